import { followMaker, unfollowMaker } from '../../apps/explore/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { idPattern } from '../../kernel/ids.ts'
import { makerPage } from '../explore/maker.ts'
import { form } from '../form.ts'
import type { Layout } from '../layout.ts'
import {
  findUser,
  type PageInput,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { followingPage } from './following.ts'

const followingPath = '/notifications/following'

/** Following makers, as the signed-in person. */
export const followRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(followingPath, ({ input }) => userPage(input, followingPage))
    .get('/explore/:name/follow', ({ params }) => redirectTo(makerPath(params.name)))
    .post('/explore/:name/follow', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => {
          const operation = sent.text('follow') === 'no' ? unfollowMaker : followMaker
          const back = () => pageOf(sent.text('from'), name)
          return form(operation, { params: { handle: name }, then: back })(req, sent)
        },
        (req, message) => personalMakerPage(req, name, message),
      ),
    )

const makerPath = (name: string): string =>
  `/explore/@${encodeURIComponent(name.replace(/^@/, ''))}`

/** Returns the path of the page with the form: the list, an item, or the page of the maker. */
function pageOf(from: string, maker: string): string {
  if (from === 'list') return followingPath
  return idPattern.test(from) ? `/explore/${from}` : makerPath(maker)
}

const personalMakerPage = (
  { ctx, query, token, visitor: { person } }: UserRequest,
  name: string,
  message?: string,
) => makerPage(ctx, name, query, { token, person, message })

/** Returns the page of a maker for a signed-in person; undefined without a session. */
export async function findPersonalMakerPage(
  input: PageInput,
  name: string,
): Promise<Response | undefined> {
  const req = await findUser(input)
  return req && privatePage(req, await personalMakerPage(req, name))
}
