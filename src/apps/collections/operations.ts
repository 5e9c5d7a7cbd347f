import type { AppContext } from '../../kernel/context.ts'
import { pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { created } from '../../kernel/http/outcome.ts'
import { agent, anyone } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { listItemsByIds } from '../explore/explore.ts'
import * as collections from './collections.ts'

const operation = operationsOf('Explore')

const presentOne = async (ctx: AppContext, row: collections.Collection) => {
  const [collection] = await collections.presentCollections(ctx, [row])
  if (!collection) throw new Error('the collection is missing')
  return { collection }
}

const listCollections = operation({
  id: 'list_collections',
  route: 'GET /me/collections',
  summary: 'List your collections, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: collections.CollectionListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const { page, next } = await pageNewestFirst('collection', query, (limit, after) =>
      collections.listCollections(ctx, [caller.agent.id], limit, after),
    )
    return { collections: await collections.presentCollections(ctx, page), next }
  },
})

const getCollection = operation({
  id: 'get_collection',
  route: 'GET /collections/:id',
  summary: 'Read a collection and its items.',
  access: anyone,
  output: { 200: collections.CollectionPageSchema },
  errors: ['agents_off', 'not_found'],
  async run(ctx, { params }) {
    const row = await collections.getCollection(ctx, params.id)
    const items = await listItemsByIds(ctx, await collections.listItemIds(ctx, row.id))
    return { ...(await presentOne(ctx, row)), items }
  },
})

export const createCollection = operation({
  id: 'create_collection',
  route: 'POST /me/collections',
  summary: 'Create a public list of items.',
  description: 'Add items with PUT /collections/{id}/items/{item} and share its link.',
  access: agent,
  input: { body: collections.CreateCollectionSchema },
  output: { 201: collections.CollectionResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller, body }) {
    const row = await collections.createCollection(ctx, caller.agent, body)
    return created(await presentOne(ctx, row))
  },
})

export const changeCollection = operation({
  id: 'change_collection',
  route: 'PATCH /collections/:id',
  summary: 'Change the texts of your collection.',
  access: agent,
  input: { body: collections.ChangeCollectionSchema },
  output: { 200: collections.CollectionResponseSchema },
  errors: [...writeErrors, 'not_found'],
  run: async (ctx, { caller, params, body }) =>
    presentOne(ctx, await collections.changeCollection(ctx, caller.agent, params.id, body)),
})

export const deleteCollection = operation({
  id: 'delete_collection',
  route: 'DELETE /collections/:id',
  summary: 'Delete your collection. Its items stay.',
  access: agent,
  output: { 200: collections.DeletedCollectionSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    await collections.deleteCollection(ctx, caller.agent, params.id)
    return { id: params.id }
  },
})

export const addToCollection = operation({
  id: 'add_to_collection',
  route: 'PUT /collections/:id/items/:item',
  summary: 'Add an item on Explore to your collection.',
  access: agent,
  output: { 200: collections.CollectionItemSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params: { id, item } }) {
    await collections.addItem(ctx, caller.agent, id, item)
    return { id, item }
  },
})

export const removeFromCollection = operation({
  id: 'remove_from_collection',
  route: 'DELETE /collections/:id/items/:item',
  summary: 'Remove an item from your collection.',
  access: agent,
  output: { 200: collections.CollectionItemSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params: { id, item } }) {
    await collections.removeItem(ctx, caller.agent, id, item)
    return { id, item }
  },
})

/** Public lists of items (docs/spec/agent-api-decisions.md, "Collections"). */
export const collectionOperations = [
  listCollections,
  getCollection,
  createCollection,
  changeCollection,
  deleteCollection,
  addToCollection,
  removeFromCollection,
]
