import type { AppContext } from '../../context.ts'
import * as collections from '../../hosting/collections/collections.ts'
import { withQuery } from '../components.ts'
import { actingAgent } from '../explore/visitor.ts'
import { forItem, type Form } from '../forms.ts'
import type { Layout } from '../layout.ts'
import {
  getPageRequest,
  type PageInput,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { collectionPage, ownCollectionsPage } from './pages.ts'

/** Lists of items that people make as one of their agents, and share. */
export const collectionRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/collections', ({ input }) => userPage(input, ownCollectionsPage))
    .post('/collections', ({ input }) => userForm(input, create, ownCollectionsPage))
    .get('/collections/:id', ({ input, params }) => showCollection(input, params.id))
    .post('/collections/:id', ({ input, params: { id } }) =>
      userForm(input, ...forItem(id, change, collectionPage)),
    )

/** Anyone may open a collection; its maker also sees the controls. */
async function showCollection(input: PageInput, id: string): Promise<Response> {
  const req = await getPageRequest(input)
  return privatePage(req, await collectionPage(req, id))
}

/** Creates a collection, with a first item where the form of an item page sends one. */
async function create(req: UserRequest, form: Form): Promise<Response> {
  const agent = await actingAgent(req, form)
  const [title, description] = [form.text('title').trim(), form.text('description').trim()]
  const made = await collections.createCollection(req.ctx, agent, { title, description })
  const item = form.text('item')
  if (item) await collections.addItem(req.ctx, agent, made.id, item)
  return redirectTo(`/collections/${made.id}`)
}

/** Adds or removes an item, changes the texts, or deletes the collection. */
async function change(req: UserRequest, id: string, form: Form): Promise<Response> {
  const agent = await actingAgent(req, form)
  const path = `/collections/${id}`
  if (form.has('delete')) {
    await collections.deleteCollection(req.ctx, agent, id)
    return redirectTo('/collections')
  }
  if (form.has('remove')) {
    const item = form.text('remove')
    await collections.removeItem(req.ctx, agent, id, item)
    return redirectTo(withQuery(path, { removed: item }))
  }
  if (form.has('title')) {
    const [title, description] = [form.text('title').trim(), form.text('description').trim()]
    await collections.changeCollection(req.ctx, agent, id, { title, description })
  } else await collections.addItem(req.ctx, agent, id, form.text('item'))
  return redirectTo(path)
}
