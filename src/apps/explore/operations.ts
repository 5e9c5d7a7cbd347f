import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fromCredits, zero } from '../../kernel/money.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { anyone, reader } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { person } from '../../people/session-user.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { presentAsset } from '../assets/operations.ts'
import { collectionOf, isPackKind, shelfNames, shelves } from '../kinds.ts'
import { getListed } from '../listings.ts'
import * as pages from '../page-content.ts'
import { hasBought } from '../remix/lineage.ts'
import * as items from './explore.ts'
import { readFamily } from './family.ts'
import { atomFeed, jsonFeed, readLog } from './feeds.ts'
import * as follows from './follows.ts'
import type { Source } from './schemas.ts'
import * as schemas from './schemas.ts'
import { recordUse } from './uses.ts'

/**
 * Free remixes have public source; others are for their maker and buyers. Throws `not_found`,
 * `taken_down`, `no_remix` and `price_above_max`.
 */
async function readSource(ctx: AppContext, reader: Agent | undefined, id: string): Promise<Source> {
  const app = await getListed(ctx, id)
  if (isPackKind(app.kind)) {
    const see = `GET /${collectionOf(app.kind)}/${id} lists its files.`
    throw new ApiError('not_found', { what: 'page', see })
  }
  const version = apps.visibleVersion(app)
  if (app.remix !== 'free' && !(await mayRead(ctx, reader, app, version))) {
    if (app.remix === 'off' || !ctx.config.pricesOn) throw new ApiError('no_remix')
    const how = `POST /apps/${id}/remix buys it.`
    throw new ApiError('price_above_max', {
      price: fromCredits(app.priceRemix ?? 0),
      max: zero,
      how,
    })
  }
  const page = await pages.readPage(ctx, await apps.getVersion(ctx, id, version))
  const rows = await assets.listAssets(ctx, id, version)
  const html = new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.identity)
  if (reader && reader.id !== app.maker) await recordUse(ctx, reader.id, id)
  return { id, version, html, assets: rows.map((row) => presentAsset(ctx, row)) }
}

const mayRead = async (
  { db }: AppContext,
  reader: Agent | undefined,
  { id, maker }: apps.App,
  version: number,
): Promise<boolean> =>
  reader !== undefined &&
  (reader.id === maker || (await hasBought(db.read, reader.id, id, version)))

const operation = operationsOf('Explore')
const personOperation = operationsOf('People')

const explore = operation({
  id: 'explore',
  route: 'GET /explore',
  mcp: 11,
  summary: 'Find apps, games, skills and frameworks on Explore.',
  description:
    'Newest first by default. q is plain words: each must occur in the title or the ' +
    'description, whole or as a prefix. Orders other than new sort the 500 newest ' +
    'matches. price filters by the price of a remix. record sorts packs by how reliably ' +
    'they worked.',
  access: anyone,
  input: { query: schemas.ExploreQuerySchema },
  output: { 200: schemas.ItemListSchema },
  errors: ['agents_off', 'bad_request'],
  run: (ctx, { query }) => items.listItems(ctx, query),
})

const listShelves = operation({
  id: 'list_shelves',
  route: 'GET /explore/shelves',
  summary: 'List the shelves with their glyphs.',
  access: anyone,
  output: { 200: schemas.ShelfListSchema },
  errors: ['agents_off'],
  run: () => ({ shelves: shelfNames.map((name) => ({ name, glyph: shelves[name] })) }),
})

const getAtomFeed = operation({
  id: 'get_atom_feed',
  route: 'GET /explore/feed.atom',
  summary: 'Read the newest items, or a search, as Atom.',
  access: anyone,
  input: { query: schemas.FeedQuerySchema },
  output: { 200: schemas.AtomSchema },
  errors: ['agents_off', 'bad_request'],
  run: (ctx, { query }) => atomFeed(ctx, query),
})

const getJsonFeed = operation({
  id: 'get_json_feed',
  route: 'GET /explore/feed.json',
  summary: 'Read the newest items, or a search, as JSON Feed.',
  access: anyone,
  input: { query: schemas.FeedQuerySchema },
  output: { 200: schemas.JsonFeedSchema },
  errors: ['agents_off', 'bad_request'],
  run: (ctx, { query }) => jsonFeed(ctx, query),
})

const getMaker = operation({
  id: 'get_maker',
  route: 'GET /explore/@:handle',
  summary: 'Read a maker and its items on Explore.',
  access: anyone,
  input: { params: Type.Object({ handle: Type.String() }), query: schemas.MakerQuerySchema },
  output: { 200: schemas.MakerPageSchema },
  errors: ['agents_off', 'bad_request', 'not_found'],
  run: (ctx, { params, query }) => items.getMaker(ctx, params.handle, query),
})

const getItem = operation({
  id: 'get_item',
  route: 'GET /explore/:id',
  mcp: 'shown',
  summary: 'Read an item: versions, remixes, lineage, rating.',
  access: anyone,
  output: { 200: schemas.ItemPageSchema },
  errors: ['agents_off', ...appErrors],
  run: (ctx, { params }) => items.getItem(ctx, params.id),
})

const getSource = operation({
  id: 'get_source',
  route: 'GET /explore/:id/source',
  mcp: 'shown',
  summary: 'Read the page and the files of an item.',
  description: 'Public when remixes are free. Send your key for your own and your purchased items.',
  access: reader,
  output: { 200: schemas.SourceSchema },
  errors: [
    'agents_off',
    'no_key',
    'bad_key',
    'wrong_key_kind',
    'account_closed',
    ...appErrors,
    'no_remix',
    'price_above_max',
  ],
  run: async (ctx, { params, caller }) => readSource(ctx, caller, params.id),
})

const getFamily = operation({
  id: 'get_family',
  route: 'GET /explore/:id/family',
  summary: 'Read the family tree of an item: its origins and its remixes.',
  description:
    'Three levels of remixes and at most 50. Follow hasMore with the id of that remix. An origin ' +
    'that was removed or left Explore has no name.',
  access: anyone,
  output: { 200: schemas.FamilySchema },
  errors: ['agents_off', ...appErrors],
  run: (ctx, { params }) => readFamily(ctx, params.id),
})

const getLog = operation({
  id: 'get_log',
  route: 'GET /explore/:id/log',
  summary: 'Read what changed in each version of an item, newest first.',
  access: anyone,
  input: { query: schemas.LogQuerySchema },
  output: { 200: schemas.LogSchema },
  errors: ['agents_off', 'bad_request', ...appErrors],
  run: (ctx, { params, query }) => readLog(ctx, params.id, query),
})

export const followMaker = personOperation({
  id: 'follow_maker',
  route: 'PUT /people/me/follows/:handle',
  summary: 'Follow a maker. Their new items are in your notifications.',
  access: person,
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    await follows.follow(ctx, caller, params.handle)
    return done
  },
})

export const unfollowMaker = personOperation({
  id: 'unfollow_maker',
  route: 'DELETE /people/me/follows/:handle',
  summary: 'No longer follow a maker.',
  access: person,
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    await follows.unfollow(ctx, caller, params.handle)
    return done
  },
})

/** Listed apps (document 1, section 1, "Explore"). */
export const exploreOperations = [
  explore,
  listShelves,
  getAtomFeed,
  getJsonFeed,
  getMaker,
  getItem,
  getSource,
  followMaker,
  unfollowMaker,
  getFamily,
  getLog,
]
