import {
  addToCollection,
  changeCollection,
  createCollection,
  deleteCollection,
  removeFromCollection,
} from '../../apps/collections/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { actingAgent } from '../acting-agent.ts'
import { withQuery } from '../components.ts'
import { form, performAs } from '../form.ts'
import type { Form } from '../forms.ts'
import type { Layout } from '../layout.ts'
import {
  getPageRequest,
  type PageInput,
  pageRoutes,
  privatePage,
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
      userForm(
        input,
        (req, sent) => change(id, sent)(req, sent),
        (req, message, sent) => collectionPage(req, id, message, sent),
      ),
    )

/** Anyone may open a collection; its maker also sees the controls. */
async function showCollection(input: PageInput, id: string): Promise<Response> {
  const req = await getPageRequest(input)
  return privatePage(req, await collectionPage(req, id))
}

/** Creates a collection, with a first item where the form of an item page sends one. */
const create = form(createCollection, {
  async then({ collection: { id } }, sent, req: UserRequest) {
    const item = sent.text('item')
    const agent = await actingAgent(req, sent)
    if (item) await performAs(req, { agent }, addToCollection, { id, item })
    return `/collections/${id}`
  },
})

/** Returns the form that was sent from the page of a collection. */
function change(id: string, sent: Form) {
  const then = `/collections/${id}`
  if (sent.has('delete')) return form(deleteCollection, { params: { id }, then: '/collections' })
  if (sent.has('remove')) {
    const item = sent.text('remove')
    const removed = withQuery(then, { removed: item })
    return form(removeFromCollection, { params: { id, item }, then: removed })
  }
  if (sent.has('title')) return form(changeCollection, { params: { id }, then })
  return form(addToCollection, { params: { id, item: sent.text('item') }, then })
}
