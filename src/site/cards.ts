import { LRUCache } from 'lru-cache'

import { readCover } from '../apps/covers/covers.ts'
import * as explore from '../apps/explore/explore.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import { getShownProfile } from '../apps/profiles/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { createEntity, type Entity } from '../kernel/http/entity.ts'
import { idPattern, sha256 } from '../kernel/ids.ts'
import { escapeHtml } from '../kernel/text.ts'
import { findPublicProfile } from '../people/own-profile.ts'
import { readShelves } from './shelves.ts'

const cardSize = { width: 1_200, height: 630 }

const gap = 6
/** The covers are above a band with the title. Without covers, the band is the card. */
const band = 138

/** Columns and rows for a number of covers. */
const gridOf = (count: number): readonly [columns: number, rows: number] => {
  if (count >= 6) return [3, 2]
  if (count >= 4) return [2, 2]
  return [Math.max(1, count), 1]
}

const logo =
  '<rect width="32" height="32" rx="7" fill="#0b6e63"/>' +
  '<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">' +
  '<path d="M16 7v14M11 11h10M6.5 18.5c1.2 4.3 4.7 7 9.5 7s8.3-2.7 9.5-7l-3.3 1.3M6.5 18.5l3.3 1.3"/>' +
  '</g><circle cx="16" cy="7" r="2" fill="#fff"/>'

/** The words of a card: what it shows, and by whom or what more. */
interface Words {
  title: string
  line: string
}

/** Characters outside the font of the site. A title in another script leaves its line empty. */
const unknownChars = /[^\u0020-\u007e\u00a0-\u00ff\u0152\u0153\u2010-\u2026\u20ac\u2122]/g
/** Mean width of a character in font sizes. */
const charWidth = 0.56

/** Cuts a text to a width in pixels, at the end of a word where there is one. */
function fitText(text: string, size: number, width: number): string {
  const known = text.replace(unknownChars, '').replace(/\s+/g, ' ').trim()
  const max = Math.floor(width / (size * charWidth))
  if (known.length <= max) return known
  const cut = known.slice(0, max - 1)
  const end = cut.lastIndexOf(' ')
  return `${cut.slice(0, end > max / 2 ? end : undefined).trimEnd()}…`
}

/** A line of text. The font has one weight, so that an outline makes the title bold. */
function textLine(text: string, { size, y, fill, isBold = false }: TextStyle): string {
  const outline = isBold ? ` stroke="${fill}" stroke-width="${size / 22}"` : ''
  const shown = escapeHtml(fitText(text, size, cardSize.width - 240))
  return `<text x="48" y="${y}" font-family="Geist" font-size="${size}" fill="${fill}"${outline}>${shown}</text>`
}

interface TextStyle {
  size: number
  /** Baseline from the top. */
  y: number
  fill: string
  isBold?: boolean
}

/** Draws PNG covers in a grid above a band with the words and the mark of the site, as SVG. */
function drawCard(covers: Uint8Array[], { title, line }: Words): string {
  const { width, height } = cardSize
  const top = height - band
  const [columns, rows] = gridOf(covers.length)
  const cell = {
    width: (width - gap * (columns - 1)) / columns,
    height: (top - gap * (rows - 1)) / rows,
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
  const words =
    covers.length > 0
      ? textLine(title, { size: 50, y: top + 66, fill: '#fdfdfc', isBold: true }) +
        textLine(line, { size: 30, y: top + 110, fill: '#b9c0c6' })
      : textLine(title, { size: 68, y: 300, fill: '#10312d', isBold: true }) +
        textLine(line, { size: 36, y: 362, fill: '#3d5f5a' })
  const ground = covers.length > 0 ? '#17191b' : '#e6f2f0'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="${ground}"/>${images.join('')}${words}` +
    `<g transform="translate(1076 ${top + 33})scale(2.25)">${logo}</g></svg>`
  )
}

/** Social cards (https://ogp.me): covers of an item, of a maker's items or of the home page. */
const coversMax = 6
const cardsKept = 100
const quality = 82

type Covered = Pick<Tile, 'cover'>

interface Card extends Words {
  items: Covered[]
}

/** Changes with what the card of an item shows, so that sites load the new one. */
export const cardKey = ({ cover, title, maker }: Pick<Tile, 'cover' | 'title' | 'maker'>): string =>
  sha256(JSON.stringify([cover?.large, title, maker])).slice(0, 8)

/** Returns what a file shows: "home.jpg", "@ann.jpg", "<id>.jpg". Throws `not_found`. */
async function findCard(ctx: AppContext, file: string): Promise<Card> {
  const name = file.replace(/\.jpg$/, '')
  if (name === 'home') {
    const items = (await readShelves(ctx)).flatMap((shelf) => shelf.items)
    return { title: 'Berth', line: 'Apps and games to play, make and remix', items }
  }
  if (await findPublicProfile(ctx, name.slice(1))) {
    const { profile, items } = await getShownProfile(ctx, name)
    const ids = items.slice(0, 2 * coversMax).map(({ id }) => id)
    const line = profile.about ?? 'On Berth'
    return { title: `@${profile.handle}`, line, items: await explore.listTilesByIds(ctx, ids) }
  }
  if (name.startsWith('@')) {
    const { maker, items } = await explore.getMakerTiles(ctx, name, { limit: 2 * coversMax })
    return { title: name, line: maker.about ?? 'Apps and games on Berth', items }
  }
  if (idPattern.test(name)) {
    const { item } = await explore.getItem(ctx, name)
    return { title: item.title, line: `by ${item.maker}`, items: [item] }
  }
  throw new ApiError('not_found', { what: 'picture' })
}

const cache = new LRUCache<string, Promise<Uint8Array>>({ max: cardsKept })

/** Returns the card of a file as JPEG. Throws `not_found`, `taken_down`, `try_again`. */
export async function readCard(ctx: AppContext, file: string): Promise<Entity> {
  const { items, ...words } = await findCard(ctx, file)
  const urls = new Set(items.flatMap(({ cover }) => cover?.large ?? []))
  const names = [...urls].slice(0, coversMax).map((url) => url.slice(url.lastIndexOf('/') + 1))
  const key = sha256(JSON.stringify([names, words]))
  const known = cache.get(key) ?? renderCard(ctx, names, words)
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

async function renderCard(ctx: AppContext, names: string[], words: Words): Promise<Uint8Array> {
  const covers = await Promise.all(
    names.map(async (name) => {
      const { bytes } = await readCover(ctx, name)
      return new Bun.Image(new Uint8Array(bytes)).png().bytes()
    }),
  )
  const { bytes } = await ctx.generators.generate({ kind: 'svg', svg: drawCard(covers, words) })
  return new Bun.Image(bytes).resize(cardSize.width, cardSize.height).jpeg({ quality }).bytes()
}
