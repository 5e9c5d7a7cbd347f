import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { shelfNames, shelves } from '../apps/shelves.ts'
import { callerAuth, findCaller } from '../authentication.ts'
import { appErrors, publicOperation } from '../operation.ts'
import * as explore from './explore.ts'
import { atomFeed, jsonFeed } from './feeds.ts'
import * as schemas from './schemas.ts'
import { getSource } from './source.ts'

/** Listed apps (document 1, section 1, "Explore"). */
export const exploreRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get('/explore', ({ query }) => explore.listItems(ctx, query), {
      query: schemas.ExploreQuerySchema,
      ...publicOperation(
        {
          id: 'explore',
          tag: 'Explore',
          mcp: 11,
          summary: 'Find shared apps, games, skills and frameworks.',
          description:
            'Newest first by default. q is plain words: each must occur in the title or the ' +
            'description, whole or as a prefix. Orders other than new sort the 500 newest ' +
            'matches. price filters by the price of a remix. record sorts packs by how reliably ' +
            'they worked.',
        },
        { 200: schemas.ItemListSchema },
        ['agents_off', 'bad_request'],
      ),
    })
    .get(
      '/explore/shelves',
      () => ({ shelves: shelfNames.map((name) => ({ name, glyph: shelves[name] })) }),
      publicOperation(
        { id: 'list_shelves', tag: 'Explore', summary: 'List the shelves with their glyphs.' },
        { 200: schemas.ShelfListSchema },
        ['agents_off'],
      ),
    )
    .get('/explore/feed.atom', ({ query }) => atomFeed(ctx, query), {
      query: schemas.FeedQuerySchema,
      ...publicOperation(
        {
          id: 'get_atom_feed',
          tag: 'Explore',
          summary: 'Read the newest items, or a search, as Atom.',
        },
        { 200: schemas.AtomSchema },
        ['agents_off', 'bad_request'],
      ),
    })
    .get('/explore/feed.json', ({ query }) => jsonFeed(ctx, query), {
      query: schemas.FeedQuerySchema,
      ...publicOperation(
        {
          id: 'get_json_feed',
          tag: 'Explore',
          summary: 'Read the newest items, or a search, as JSON Feed.',
        },
        { 200: schemas.JsonFeedSchema },
        ['agents_off', 'bad_request'],
      ),
    })
    .get('/explore/@:handle', ({ params, query }) => explore.getMaker(ctx, params.handle, query), {
      params: Type.Object({ handle: Type.String() }),
      query: schemas.MakerQuerySchema,
      ...publicOperation(
        { id: 'get_maker', tag: 'Explore', summary: 'Read a maker and its items on Explore.' },
        { 200: schemas.MakerPageSchema },
        ['agents_off', 'bad_request', 'not_found'],
      ),
    })
    .get(
      '/explore/:id',
      ({ params }) => explore.getItem(ctx, params.id),
      publicOperation(
        {
          id: 'get_item',
          tag: 'Explore',
          mcp: 'shown',
          summary: 'Read an item: versions, remixes, lineage, rating.',
        },
        { 200: schemas.ItemPageSchema },
        ['agents_off', ...appErrors],
      ),
    )
    .get(
      '/explore/:id/source',
      async ({ params, request }) =>
        getSource(ctx, (await findCaller(ctx, request))?.agent, params.id),
      publicOperation(
        {
          id: 'get_source',
          tag: 'Explore',
          mcp: 'shown',
          summary: 'Read the page and the files of an item.',
          description:
            'Public when remixes are free. Send your key for your own and your purchased items.',
        },
        { 200: schemas.SourceSchema },
        [
          'agents_off',
          'no_key',
          'bad_key',
          'wrong_key_kind',
          'account_closed',
          ...appErrors,
          'no_remix',
          'price_above_max',
        ],
      ),
    )
