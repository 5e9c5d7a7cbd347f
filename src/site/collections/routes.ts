import {
  addToCollection,
  changeCollection,
  createCollection,
  deleteCollection,
  removeFromCollection,
} from '../../apps/collections/operations.ts'
import type { AppContext } from '../../server/context.ts'
import { withQuery } from '../components.ts'
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
import { submit } from '../submit.ts'
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
  const { collection } = await submit(req, form, createCollection, {})
  const [{ id }, item] = [collection, form.text('item')]
  if (item) await submit(req, form, addToCollection, { id, item })
  return redirectTo(`/collections/${id}`)
}

/** Adds or removes an item, changes the texts, or deletes the collection. */
async function change(req: UserRequest, id: string, form: Form): Promise<Response> {
  const path = `/collections/${id}`
  if (form.has('delete')) {
    await submit(req, form, deleteCollection, { id })
    return redirectTo('/collections')
  }
  if (form.has('remove')) {
    const item = form.text('remove')
    await submit(req, form, removeFromCollection, { id, item })
    return redirectTo(withQuery(path, { removed: item }))
  }
  if (form.has('title')) await submit(req, form, changeCollection, { id })
  else await submit(req, form, addToCollection, { id, item: form.text('item') })
  return redirectTo(path)
}
