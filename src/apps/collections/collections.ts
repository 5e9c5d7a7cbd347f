import { type Static, Type } from '@sinclair/typebox'
import { and, asc, count, eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { type PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, listNewest } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import { NextSchema } from '../../kernel/http/list-query.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import {
  IdSchema,
  lineSchema,
  LinkSchema,
  namedObject,
  strictObject,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { hasVisibleText, isPlainLine, isPlainText } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { type Agent, findAgent, findHandles } from '../../people/agents/agents.ts'
import { lockAgent } from '../../people/agents/storage-quota.ts'
import { ItemListSchema } from '../explore/schemas.ts'
import { getListed } from '../listings.ts'
import { collectionItems, collections } from './tables.ts'

const collectionsPerAgentMax = 100
const collectionItemsMax = 100
export const collectionTitleCharsMax = 80
export const collectionTextCharsMax = 300

/** A public list of items. */
const CollectionSchema = namedObject('Collection', {
  id: IdSchema,
  link: LinkSchema,
  title: Type.String(),
  description: Type.String(),
  maker: Type.String({ description: '@ and the handle of the maker.' }),
  items: Type.Integer({ description: 'Number of items.' }),
  created: TimeSchema,
  updated: TimeSchema,
})
export type CollectionBody = Static<typeof CollectionSchema>

const title = lineSchema(collectionTitleCharsMax, { minLength: 1 })
const description = Type.Optional(textSchema(collectionTextCharsMax))

export const CreateCollectionSchema = strictObject(
  { title, description },
  { examples: [{ title: 'Rainy evenings' }] },
)
type CreateCollectionRequest = Static<typeof CreateCollectionSchema>

export const ChangeCollectionSchema = strictObject(
  { title: Type.Optional(title), description },
  { examples: [{ description: 'Games that need no sound.' }] },
)
type ChangeCollectionRequest = Static<typeof ChangeCollectionSchema>

export const CollectionResponseSchema = Type.Object({ collection: CollectionSchema })
export const CollectionListSchema = Type.Object({
  collections: Type.Array(CollectionSchema),
  next: NextSchema,
})
export const CollectionPageSchema = Type.Object({
  collection: CollectionSchema,
  items: ItemListSchema.properties.items,
})
export const DeletedCollectionSchema = Type.Object({ id: IdSchema })
export const CollectionItemSchema = Type.Object({ id: IdSchema, item: IdSchema })

export type Collection = typeof collections.$inferSelect

const notFound = () => new ApiError('not_found', { what: 'collection' })

/** Throws `bad_request` for a text that is not plain, is too long or is not allowed on Explore. */
function checkTexts({ title, description }: ChangeCollectionRequest): void {
  const isTitle =
    title === undefined || (isPlainLine(title, collectionTitleCharsMax) && hasVisibleText(title))
  const isText = description === undefined || isPlainText(description, collectionTextCharsMax)
  const isAllowed = !isForbidden(title ?? '') && !isForbidden(description ?? '')
  if (isTitle && isText && isAllowed) return
  rejectRequest(
    `"title" is one plain line of 1 to ${collectionTitleCharsMax} characters and "description" ` +
      `plain text of at most ${collectionTextCharsMax}, without slurs and instructions to agents.`,
  )
}

/** Throws `bad_request` for invalid texts and above the limit of collections. */
export async function createCollection(
  ctx: AppContext,
  { id: maker }: Agent,
  { title, description = '' }: CreateCollectionRequest,
): Promise<Collection> {
  checkTexts({ title, description })
  const now = ctx.clock.now()
  const row = { id: newId(), maker, title, description, created: now, updated: now }
  await ctx.db.tx(async (db) => {
    await lockAgent(ctx, db, maker)
    if (
      (await countRows(db, collections, eq(collections.maker, maker))) >= collectionsPerAgentMax
    ) {
      rejectRequest(`An agent has at most ${collectionsPerAgentMax} collections. Delete one first.`)
    }
    await db.insert(collections).values(row)
  })
  return row
}

async function findCollection(ctx: AppContext, id: string): Promise<Collection | undefined> {
  if (!idPattern.test(id)) return undefined
  const [row] = await ctx.db.read.select().from(collections).where(eq(collections.id, id))
  return row
}

/** Returns a collection whose maker has an open account. Throws `not_found`. */
export async function getCollection(ctx: AppContext, id: string): Promise<Collection> {
  const row = await findCollection(ctx, id)
  const maker = row && (await findAgent(ctx, row.maker))
  if (!row || !maker || maker.closed !== null || maker.suspended !== null) throw notFound()
  return row
}

async function getOwnCollection(ctx: AppContext, agent: Agent, id: string): Promise<Collection> {
  const found = await findCollection(ctx, id)
  if (found?.maker !== agent.id) throw notFound()
  return found
}

/** Throws `bad_request` and `not_found`. */
export async function changeCollection(
  ctx: AppContext,
  agent: Agent,
  id: string,
  change: ChangeCollectionRequest,
): Promise<Collection> {
  const before = await getOwnCollection(ctx, agent, id)
  checkTexts(change)
  const [after] = await ctx.db.tx((db) =>
    db
      .update(collections)
      .set({ ...change, updated: ctx.clock.now() })
      .where(eq(collections.id, id))
      .returning(),
  )
  return after ?? before
}

/** Throws `not_found`. */
export async function deleteCollection(ctx: AppContext, agent: Agent, id: string): Promise<void> {
  await getOwnCollection(ctx, agent, id)
  await ctx.db.tx(async (db) => {
    await db.delete(collectionItems).where(eq(collectionItems.collection, id))
    await db.delete(collections).where(eq(collections.id, id))
  })
}

/** Adds an item on Explore. Throws `not_found`, `taken_down`, and `bad_request` above the limit. */
export async function addItem(
  ctx: AppContext,
  agent: Agent,
  id: string,
  item: string,
): Promise<void> {
  await getOwnCollection(ctx, agent, id)
  await getListed(ctx, item)
  const now = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await lockAgent(ctx, db, agent.id)
    if ((await countItems(db, id)) >= collectionItemsMax)
      rejectRequest(`A collection has at most ${collectionItemsMax} items.`)
    const row = { collection: id, item, added: now }
    await db.insert(collectionItems).values(row).onConflictDoNothing()
    await db.update(collections).set({ updated: now }).where(eq(collections.id, id))
  })
}

/** Throws `not_found`. */
export async function removeItem(
  ctx: AppContext,
  agent: Agent,
  id: string,
  item: string,
): Promise<void> {
  await getOwnCollection(ctx, agent, id)
  const isOne = and(eq(collectionItems.collection, id), eq(collectionItems.item, item))
  const deleted = await ctx.db.tx((db) => db.delete(collectionItems).where(isOne).returning())
  if (deleted.length === 0) throw new ApiError('not_found', { what: 'item in this collection' })
}

const countItems = (db: Db, id: string): Promise<number> =>
  countRows(db, collectionItems, eq(collectionItems.collection, id))

/** Lists the collections of agents, newest first. */
export const listCollections = (
  { db }: AppContext,
  makers: string[],
  limit: number,
  after?: PagePosition,
): Promise<Collection[]> =>
  listNewest(db.read, collections, inArray(collections.maker, makers), limit, after)

/** Returns the IDs of the first items, in the order in which they were added. */
export async function listItemIds(
  { db }: AppContext,
  id: string,
  limit = collectionItemsMax,
): Promise<string[]> {
  const rows = await db.read
    .select({ item: collectionItems.item })
    .from(collectionItems)
    .where(eq(collectionItems.collection, id))
    .orderBy(asc(collectionItems.added), asc(collectionItems.item))
    .limit(limit)
  return rows.map(({ item }) => item)
}

export async function presentCollections(
  ctx: AppContext,
  rows: Collection[],
): Promise<CollectionBody[]> {
  const ids = rows.map(({ id }) => id)
  const [handles, counts] = await Promise.all([
    findHandles(
      ctx,
      rows.map(({ maker }) => maker),
    ),
    ctx.db.read
      .select({ id: collectionItems.collection, items: count() })
      .from(collectionItems)
      .where(inArray(collectionItems.collection, ids))
      .groupBy(collectionItems.collection),
  ])
  const sizes = new Map(counts.map(({ id, items }) => [id, items]))
  return rows.map(({ id, title, description, maker, created, updated }) => ({
    id,
    link: `${ctx.urls.app}/collections/${id}`,
    title,
    description,
    maker: `@${handles.get(maker)}`,
    items: sizes.get(id) ?? 0,
    created: iso(created),
    updated: iso(updated),
  }))
}
