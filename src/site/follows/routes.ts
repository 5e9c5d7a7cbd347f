import * as follows from '../../apps/explore/follows.ts'
import { idPattern } from '../../kernel/ids.ts'
import type { AppContext } from '../../server/context.ts'
import { makerPage } from '../explore/maker.ts'
import { forItem, type Form } from '../forms.ts'
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
      userForm(input, ...forItem(name, change, personalMakerPage)),
    )

const makerPath = (name: string): string =>
  `/explore/@${encodeURIComponent(name.replace(/^@/, ''))}`

/** Follows or unfollows, and returns to the page of the form. */
async function change(req: UserRequest, name: string, form: Form): Promise<Response> {
  const act = form.text('follow') === 'no' ? follows.unfollow : follows.follow
  await act(req.ctx, req.visitor.person, name)
  const from = form.text('from')
  if (from === 'list') return redirectTo(followingPath)
  return redirectTo(idPattern.test(from) ? `/explore/${from}` : makerPath(name))
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
