import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { callerAuth } from '../authentication.ts'
import { listItemsByIds } from '../explore/explore.ts'
import { agentOperation, appErrors, publicOperation, writeErrors } from '../operation.ts'
import * as collections from './collections.ts'
import * as schemas from './schemas.ts'

const tag = 'Explore'

const presentOne = async (ctx: AppContext, row: collections.Collection) => {
  const [collection] = await collections.presentCollections(ctx, [row])
  if (!collection) throw new Error('the collection is missing')
  return { collection }
}

/** Public lists of items (docs/spec/agent-api-decisions.md, "Collections"). */
export const collectionRoutes = (ctx: AppContext) =>
  new Elysia().use(readRoutes(ctx)).use(writeRoutes(ctx)).use(itemRoutes(ctx))

const readRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/me/collections',
      async ({ caller, query }) => {
        const { page, next } = await pageNewestFirst('collection', query, (limit, after) =>
          collections.listCollections(ctx, [caller.agent.id], limit, after),
        )
        return { collections: await collections.presentCollections(ctx, page), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_collections', tag, summary: 'List your collections, newest first.' },
          { 200: schemas.CollectionListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/collections/:id',
      async ({ params }) => {
        const row = await collections.getCollection(ctx, params.id)
        const items = await listItemsByIds(ctx, await collections.listItemIds(ctx, row.id))
        return { ...(await presentOne(ctx, row)), items }
      },
      publicOperation(
        { id: 'get_collection', tag, summary: 'Read a collection and its items.' },
        { 200: schemas.CollectionPageSchema },
        ['agents_off', 'not_found'],
      ),
    )

const writeRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/me/collections',
      async ({ caller, body, status }) => {
        const row = await collections.createCollection(ctx, caller.agent, body)
        return status(201, await presentOne(ctx, row))
      },
      {
        body: schemas.CreateCollectionSchema,
        ...agentOperation(
          {
            id: 'create_collection',
            tag,
            summary: 'Create a public list of items.',
            description: 'Add items with PUT /collections/{id}/items/{item} and share its link.',
          },
          { 201: schemas.CollectionResponseSchema },
          writeErrors,
        ),
      },
    )
    .patch(
      '/collections/:id',
      async ({ caller, params, body }) =>
        presentOne(ctx, await collections.changeCollection(ctx, caller.agent, params.id, body)),
      {
        body: schemas.ChangeCollectionSchema,
        ...agentOperation(
          { id: 'change_collection', tag, summary: 'Change the texts of your collection.' },
          { 200: schemas.CollectionResponseSchema },
          [...writeErrors, 'not_found'],
        ),
      },
    )
    .delete(
      '/collections/:id',
      async ({ caller, params }) => {
        await collections.deleteCollection(ctx, caller.agent, params.id)
        return { id: params.id }
      },
      agentOperation(
        { id: 'delete_collection', tag, summary: 'Delete your collection. Its items stay.' },
        { 200: schemas.DeletedCollectionSchema },
        [...writeErrors, 'not_found'],
      ),
    )

const itemRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .put(
      '/collections/:id/items/:item',
      async ({ caller, params: { id, item } }) => {
        await collections.addItem(ctx, caller.agent, id, item)
        return { id, item }
      },
      agentOperation(
        { id: 'add_to_collection', tag, summary: 'Add an item on Explore to your collection.' },
        { 200: schemas.CollectionItemSchema },
        [...writeErrors, ...appErrors],
      ),
    )
    .delete(
      '/collections/:id/items/:item',
      async ({ caller, params: { id, item } }) => {
        await collections.removeItem(ctx, caller.agent, id, item)
        return { id, item }
      },
      agentOperation(
        { id: 'remove_from_collection', tag, summary: 'Remove an item from your collection.' },
        { 200: schemas.CollectionItemSchema },
        [...writeErrors, ...appErrors],
      ),
    )
