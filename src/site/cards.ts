import { LRUCache } from 'lru-cache'

import { readCover } from '../apps/covers/covers.ts'
import * as explore from '../apps/explore/explore.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { createEntity, type Entity } from '../kernel/http/entity.ts'
import { idPattern, sha256 } from '../kernel/ids.ts'
import { readShelves } from './shelves.ts'

const cardSize = { width: 1_200, height: 630 }

const gap = 6

/** Columns and rows for a number of covers. */
const gridOf = (count: number): readonly [columns: number, rows: number] => {
  if (count >= 6) return [3, 2]
  if (count >= 4) return [2, 2]
  return [Math.max(1, count), 1]
}

const logo =
  '<g transform="translate(1096 526)scale(2.25)"><rect width="32" height="32" rx="7" fill="#0b6e63"/>' +
  '<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">' +
  '<path d="M16 7v14M11 11h10M6.5 18.5c1.2 4.3 4.7 7 9.5 7s8.3-2.7 9.5-7l-3.3 1.3M6.5 18.5l3.3 1.3"/>' +
  '</g><circle cx="16" cy="7" r="2" fill="#fff"/></g>'

/** Draws PNG covers in a grid with the mark of the site, as SVG. Without covers: the mark alone. */
function drawCard(covers: Uint8Array[]): string {
  const { width, height } = cardSize
  const [columns, rows] = gridOf(covers.length)
  const cell = {
    width: (width - gap * (columns - 1)) / columns,
    height: (height - gap * (rows - 1)) / rows,
  }
  const images = covers.slice(0, columns * rows).map((png, at) => {
    const x = (at % columns) * (cell.width + gap)
    const y = Math.floor(at / columns) * (cell.height + gap)
    const data = Buffer.from(png).toString('base64')
    return (
      `<svg x="${x}" y="${y}" width="${cell.width}" height="${cell.height}">` +
      `<image href="data:image/png;base64,${data}" width="100%" height="100%" ` +
      'preserveAspectRatio="xMidYMid slice"/></svg>'
    )
  })
  const ground = covers.length > 0 ? '#17191b' : '#e6f2f0'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="${ground}"/>${images.join('')}${logo}</svg>`
  )
}

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
