import { isPackKind, type Kind, type PackKind, type Shelf } from '../apps/kinds.ts'
import { Html, html, type Part } from '../kernel/html.ts'

/** Line icons of the shelves, on a square of 24. */
const glyphs: Record<Shelf, string> = {
  arcade:
    'M12 14V7M12 7a2 2 0 1 1 .01 0M4.5 20v-3a3 3 0 0 1 3-3h9a3 3 0 0 1 3 3v3zM15.5 17h1M8.5 17h1',
  puzzle: 'M4 8h4.2a2.3 2.3 0 1 1 4.3 0H16v4.2a2.3 2.3 0 1 1 0 4.3V20h-4.2a2.3 2.3 0 1 0-4.3 0H4z',
  adventure: 'M3 6.5 9 4l6 2.5L21 4v13.5L15 20l-6-2.5L3 20zM9 4v13.5M15 6.5V20',
  sim: 'M5 20V10h5.5M10.5 20V4H19v16M3 20h18M13.5 8H16M13.5 12H16M13.5 16H16M7.5 13.5v0M7.5 16.5v0',
  tools:
    'M14.7 6.3a1 1 0 0 0 0 1.4l1.6 1.6a1 1 0 0 0 1.4 0l3.8-3.8a6 6 0 0 1-7.9 7.9l-6.9 6.9a2.1 2.1 0 0 1-3-3l6.9-6.9a6 6 0 0 1 7.9-7.9z',
  learn: 'M12 5 2 10l10 5 10-5zM6 12.2V17c3.5 2.7 8.5 2.7 12 0v-4.8M22 10v5.5',
  art: 'M12 3a9 9 0 1 0 0 18c1.5 0 2.1-1.1 1.6-2.3-.6-1.5.3-2.7 1.9-2.7H18a3 3 0 0 0 3-3c0-5.5-4-10-9-10zM7.3 12v0M9.5 7.8v0M14.5 7.8v0',
  music:
    'M9 18V5.5l11-2V16M9 18a2.7 2.7 0 1 1-5.4 0A2.7 2.7 0 0 1 9 18zM20 16a2.7 2.7 0 1 1-5.4 0A2.7 2.7 0 0 1 20 16z',
  data: 'M5 20v-6.5h3.2V20M10.4 20V5h3.2v15M15.8 20v-10H19v10M3 20h18',
  writing:
    'm4 20 1-4.5L16.3 4.2a2.1 2.1 0 0 1 3 0l.5.5a2.1 2.1 0 0 1 0 3L8.5 19zM14.3 6.2l3.5 3.5M13.5 20H20',
  social:
    'M6 5h12a2.5 2.5 0 0 1 2.5 2.5v6A2.5 2.5 0 0 1 18 16h-6.5L7 20v-4H6a2.5 2.5 0 0 1-2.5-2.5v-6A2.5 2.5 0 0 1 6 5zM8 10.5v0M12 10.5v0M16 10.5v0',
  other: 'm12 3 8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
}

export const shelfIcon = (shelf: Shelf): Html =>
  html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
    <path d="${glyphs[shelf]}" />
  </svg>`

/** Returns a line icon on a square of 24. */
export const lineIcon = (path: string): Html =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}" /></svg>`

export const searchIcon = lineIcon(
  'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20.5 20.5',
)

const wave = 'q13-14 26 0t26 0 26 0 26 0 26 0'

/** Background patterns on a square of 96; `n` rotates or shifts them. */
const patterns: ((n: number) => string)[] = [
  // Rings around a corner.
  (n) => {
    const at = `M${(n % 2) * 96} ${n % 3 === 0 ? 0 : 96}`
    const ring = (r: number): string =>
      `${at}m-${r} 0a${r} ${r} 0 1 0 ${2 * r} 0 ${r} ${r} 0 1 0-${2 * r} 0`
    return [18, 40, 62, 84].map(ring).join('')
  },
  // Stripes.
  (n) => [0, 1, 2, 3, 4, 5].map((at) => `M${at * 28 - 60 + n} 100l104-104`).join(''),
  // Waves.
  (n) => [28, 47, 66, 85].map((y) => `M${n - 30} ${y}${wave}`).join(''),
  // Squares on their corners.
  (n) => {
    const square = (r: number): string => `M${40 + n} ${48 - r}l${r} ${r}-${r} ${r}-${r}-${r}z`
    return [26, 50, 74].map(square).join('')
  },
]

const offsetsMax = 23
/** Colors of a shelf. */
const tonesMax = 3
/** Rendered covers: at most 276 for each shelf and each kind of pack. */
const cache = new Map<string, Html>()

/** Returns the cover of an item without an icon, which depends only on its ID, shelf and kind. */
export function coverArt(id: string, shelf: Shelf, kind: Kind): Html {
  let n = 0
  for (let at = 0; at < id.length; at += 1) n = (n * 31 + id.charCodeAt(at)) % 9_973
  n %= patterns.length * offsetsMax * tonesMax
  const name = `${isPackKind(kind) ? kind : shelf} ${n}`
  const known = cache.get(name) ?? (isPackKind(kind) ? drawSheet(n, kind) : drawCover(n, shelf))
  cache.set(name, known)
  return known
}

function drawCover(n: number, shelf: Shelf): Html {
  const ground = patterns[n % patterns.length]?.(n % offsetsMax) ?? ''
  return html`<svg
    class="art shelf-${shelf} tone-${n % tonesMax}"
    viewBox="0 0 96 96"
    preserveAspectRatio="xMidYMid slice"
    aria-hidden="true"
  >
    <path d="${ground}" />
    <path class="glyph" transform="translate(28 28)scale(1.667)" d="${glyphs[shelf]}" />
  </svg>`
}

/** Colors of signal flags. Each flag has one of both, so that its shape is seen. */
const dark = ['#0b6e63', '#b5382a', '#23568f', '#1d2327']
const light = ['#f6f1e4', '#eab54b', '#a9d6ee']

/** A sheet of instructions on the ground of a flag; with a line of steps for a framework. */
function drawSheet(n: number, kind: PackKind): Html {
  const [ground, fold] = [dark[n % 3], light[1 + (n % 2)]]
  const isStepped = kind === 'framework'
  const rows = [49, 60, 71, 82, 93]
  const lines = rows.map((y, at) => `M${isStepped ? 68 : 57} ${y}h${22 + ((n >> at) % 3) * 9}`)
  const steps =
    isStepped &&
    html`<path stroke="${ground}" d="M59 49v51" /><path
        stroke="${ground}"
        stroke-width="7"
        stroke-linecap="round"
        d="${rows.map((y) => `M59 ${y}v0`).join('')}"
      />`
  return html`<svg viewBox="0 0 160 100" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
    <path fill="${ground}" d="M0 0h160v100H0z" />
    <path fill="${light[0]}" d="M46 18h56l14 14v68H46z" />
    <path fill="${fold}" d="M102 18l14 14h-14z" />
    <path stroke="${ground}" stroke-width="7" d="M57 34h${20 + (n % 5) * 4}" />
    <path stroke="${ground}" stroke-width="3" stroke-opacity="0.4" d="${lines.join('')}" />
    ${steps}
  </svg>`
}

/** Fields of signal flags on a square of 12, over a ground of another color. */
const fields = [
  // A cross, a saltire, and a cross of Scandinavia.
  'M5 0h2v5h5v2H7v5H5V7H0V5h5z',
  'M0 0h2l4 4 4-4h2v2L8 6l4 4v2h-2L6 8l-4 4H0v-2l4-4-4-4z',
  'M3 0h2v5h7v2H5v5H3V7H0V5h3z',
  // Halves, quarters and thirds.
  'M6 0h6v12H6z',
  'M0 0h6v6H0zM6 6h6v6H6z',
  'M4 0h4v12H4z',
  'M0 4h12v4H0z',
  // A diagonal half, a square, a diamond and stripes.
  'M0 0h12v12z',
  'M3 3h6v6H3z',
  'M6 1l5 5-5 5-5-5z',
  'M0 0h3v12H0zM6 0h3v12H6z',
  'M0 0h12v3H0zM0 6h12v3H0z',
]

/**
 * The signal flag of a handle or an id, which depends only on its letters. It is the drawn mark of
 * people, agents and installed apps without a picture.
 */
export function signalFlag(handle: string): Html {
  let n = 7
  for (let at = 0; at < handle.length; at += 1) n = (n * 31 + handle.charCodeAt(at)) % 99_991
  const pair = [dark[n % 4], light[Math.floor(n / 4) % 3]]
  const [ground, figure] = n % 24 < 12 ? pair : pair.toReversed()
  const field = fields[Math.floor(n / 24) % fields.length]
  return html`<svg viewBox="0 0 12 12" aria-hidden="true">
    <path fill="${ground}" d="M0 0h12v12H0z" />
    <path fill="${figure}" d="${field}" />
  </svg>`
}

/** The picture of a person, by the path of its image, or the flag of a handle. It is decorative. */
export const renderAvatar = (handle: string, image?: Part): Html =>
  html`<span class="avatar" aria-hidden="true"
    >${image ? html`<img src="${image}" alt="" width="256" height="256" />` : signalFlag(handle.replace('@', ''))}</span
  >`
