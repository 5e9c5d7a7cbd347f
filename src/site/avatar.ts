import { type Html, html, type Part } from '../kernel/html.ts'

/** Colors of signal flags. Each flag has one of both, so that its shape is seen. */
const dark = ['#0b6e63', '#b5382a', '#23568f', '#1d2327']
const light = ['#f6f1e4', '#eab54b', '#a9d6ee']

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
 * The signal flag of a handle, which depends only on its letters. It is the drawn mark of people
 * and agents without a picture.
 */
function signalFlag(handle: string): Html {
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
