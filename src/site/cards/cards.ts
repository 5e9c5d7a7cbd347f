import { LRUCache } from 'lru-cache'

import { readCover } from '../../apps/covers/covers.ts'
import * as explore from '../../apps/explore/explore.ts'
import type { Tile } from '../../apps/explore/schemas.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createEntity, type Entity } from '../../kernel/http/entity.ts'
import { idPattern, sha256 } from '../../kernel/ids.ts'
import type { AppContext } from '../../server/context.ts'
import { readShelves } from '../shelves.ts'
import { cardSize, drawCard } from './draw.ts'

/** Social cards (https://ogp.me): covers of an item, of a maker's items or of the home page. */
const coversMax = 6
const cardsKept = 100
const quality = 82

type Covered = Pick<Tile, 'cover'>

/** Changes with the cover of an item, so that sites load the new card. */
export const cardKey = (item: Covered): string => sha256(item.cover?.large ?? '').slice(0, 8)

/** Returns the items of a card's file: "home.jpg", "@ann.jpg", "<id>.jpg". Throws `not_found`. */
async function findItems(ctx: AppContext, file: string): Promise<Covered[]> {
  const name = file.replace(/\.jpg$/, '')
  if (name === 'home') return (await readShelves(ctx)).flatMap(({ items }) => items)
  if (name.startsWith('@')) {
    return (await explore.getMakerTiles(ctx, name, { limit: 2 * coversMax })).items
  }
  if (idPattern.test(name)) return [(await explore.getItem(ctx, name)).item]
  throw new ApiError('not_found', { what: 'picture' })
}

const cache = new LRUCache<string, Promise<Uint8Array>>({ max: cardsKept })

/** Returns the card of a file as JPEG. Throws `not_found`, `taken_down`, `try_again`. */
export async function readCard(ctx: AppContext, file: string): Promise<Entity> {
  const items = await findItems(ctx, file)
  const urls = new Set(items.flatMap(({ cover }) => cover?.large ?? []))
  const names = [...urls].slice(0, coversMax).map((url) => url.slice(url.lastIndexOf('/') + 1))
  const key = sha256(names.join(' '))
  const known = cache.get(key) ?? renderCard(ctx, names)
  cache.set(key, known)
  known.catch(() => cache.delete(key))
  const headers = {
    'content-type': 'image/jpeg',
    'cache-control': 'max-age=86400',
    // Other sites show the card.
    'cross-origin-resource-policy': 'cross-origin',
  }
  return createEntity({ etag: key.slice(0, 32), identity: await known }, headers)
}

async function renderCard(ctx: AppContext, names: string[]): Promise<Uint8Array> {
  const covers = await Promise.all(
    names.map(async (name) => {
      const { bytes } = await readCover(ctx, name)
      return new Bun.Image(new Uint8Array(bytes)).png().bytes()
    }),
  )
  const { bytes } = await ctx.generators.generate({ kind: 'svg', svg: drawCard(covers) })
  return new Bun.Image(bytes).resize(cardSize.width, cardSize.height).jpeg({ quality }).bytes()
}
