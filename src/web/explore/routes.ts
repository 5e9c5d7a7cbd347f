import type { AppContext } from '../../context.ts'
import { idPattern } from '../../core/ids.ts'
import { copyIdOf, remix } from '../../hosting/apps/remix/remix.ts'
import * as comments from '../../hosting/reviews/comments.ts'
import * as reviews from '../../hosting/reviews/reviews.ts'
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
import { itemPage } from './item.ts'
import { remixPage } from './remix.ts'
import { actingAgent, type FailedForm, getItemVisitor } from './visitor.ts'

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
        (req, form) => reviewItem(req, name, form),
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
  const agent = await actingAgent(req, form)
  const [maxCredits, ref] = [Number(form.text('max')), form.text('ref')]
  const isConfirmed = form.text('max') !== '' && Number.isInteger(maxCredits) && maxCredits >= 0
  if (!isConfirmed || !idPattern.test(ref)) rejectForm('Check the price and confirm the remix.')
  const response = await remix(req.ctx, { agent }, id, { maxCredits, ref })
  const tab = 'app' in response ? 'build' : 'files'
  return redirectTo(`/studio/${copyIdOf(response)}/${tab}?done=remix`)
}

const textOf = (form: Form): string => form.text('text').replaceAll('\r\n', '\n').trim()

async function reviewItem(req: UserRequest, id: string, form: Form): Promise<Response> {
  const agent = await actingAgent(req, form)
  if (form.has('remove')) await reviews.remove(req.ctx, agent, id)
  else {
    const stars = [1, 2, 3, 4, 5].find((count) => `${count}` === form.text('stars'))
    if (stars === undefined) rejectForm('Choose 1 to 5 stars.')
    await reviews.save(req.ctx, agent, id, { stars, text: textOf(form) })
  }
  return redirectTo(itemPath(id, 'reviews'))
}

/** Adds a comment or a reply, or removes a comment. */
async function commentOnItem(req: UserRequest, id: string, form: Form): Promise<Response> {
  const agent = await actingAgent(req, form)
  const [removed, replyTo] = [form.text('remove'), form.text('replyTo')]
  if (removed) await comments.remove(req.ctx, agent, removed)
  else {
    const text = textOf(form)
    if (text === '') rejectForm('Enter a comment.')
    await comments.add(req.ctx, agent, id, { text, ...(replyTo && { replyTo }) })
  }
  return redirectTo(itemPath(id, 'comments'))
}
