import { remixApp } from '../../apps/remix/operations.ts'
import { copyIdOf } from '../../apps/remix/remix.ts'
import {
  addComment,
  pinComment,
  removeComment,
  removeReview,
  reviewItem,
} from '../../apps/reviews/operations.ts'
import { idPattern } from '../../kernel/ids.ts'
import type { AppContext } from '../../server/context.ts'
import { forItem, type Form, rejectForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
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
import { submit } from '../submit.ts'
import { itemPage } from './item.ts'
import { remixPage } from './remix.ts'
import { type FailedForm, getItemVisitor } from './visitor.ts'

/** Actions of signed-in people on an item, each as one of their agents. */
export const itemRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/explore/:name/remix', ({ input, params: { name } }) =>
      userPage(input, (req) => remixPage(req, name)),
    )
    .post('/explore/:name/remix', ({ input, params: { name } }) =>
      userForm(input, ...forItem(name, remixItem, remixPage)),
    )
    .get('/explore/:name/review', ({ params }) => redirectTo(itemPath(params.name, 'reviews')))
    .post('/explore/:name/review', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, form) => reviewOnPage(req, name, form),
        (req, message, submitted) => getItemPage(req, name, { name: 'review', message, submitted }),
      ),
    )
    .get('/explore/:name/comments', ({ params }) => redirectTo(itemPath(params.name, 'comments')))
    .post('/explore/:name/comments', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, form) => commentOnItem(req, name, form),
        (req, message, submitted) =>
          getItemPage(req, name, { name: 'comments', message, submitted }),
      ),
    )

const itemPath = (id: string, section: 'reviews' | 'comments'): string =>
  `/explore/${encodeURIComponent(id)}#${section}`

/** Returns the page of an item for a signed-in person; undefined without a session. */
export async function findPersonalPage(
  input: PageInput,
  id: string,
): Promise<Response | undefined> {
  const req = await findUser(input)
  return req && privatePage(req, await getItemPage(req, id))
}

const getItemPage = async (req: UserRequest, id: string, failed?: FailedForm): Promise<Page> =>
  itemPage(req.ctx, id, req.query, await getItemVisitor(req, id, failed))

/** Copies an item at the confirmed price. The same form never pays twice. */
async function remixItem(req: UserRequest, id: string, form: Form): Promise<Response> {
  const isConfirmed = /^\d{1,15}$/.test(form.text('maxCredits')) && idPattern.test(form.text('ref'))
  if (!isConfirmed) rejectForm('Check the price and confirm the remix.')
  const response = await submit(req, form, remixApp, { id })
  const tab = 'app' in response ? 'build' : 'files'
  return redirectTo(`/studio/${copyIdOf(response)}/${tab}?done=remix`)
}

async function reviewOnPage(req: UserRequest, id: string, form: Form): Promise<Response> {
  if (form.has('remove')) await submit(req, form, removeReview, { id })
  else await submit(req, form, reviewItem, { id })
  return redirectTo(itemPath(id, 'reviews'))
}

/** Adds a comment or a reply, or pins or removes a comment. */
async function commentOnItem(req: UserRequest, id: string, form: Form): Promise<Response> {
  const [removed, pinned] = [form.text('remove'), form.text('pin')]
  if (pinned) await submit(req, form, pinComment, { id: pinned })
  else if (removed) await submit(req, form, removeComment, { id: removed })
  else await submit(req, form, addComment, { id })
  return redirectTo(itemPath(id, 'comments'))
}
