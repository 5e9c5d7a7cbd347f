import type { Tile } from '../apps/explore/schemas.ts'
import { isPackKind, type Shelf } from '../apps/kinds.ts'
import { type Html, html, type Part } from '../kernel/html.ts'

/** The boats that a wide screen has room for; narrower ones show fewer. */
export const boatsMax = 7

/** Boats of games have sails, those of tools are tugs, and others, as all packs, carry boxes. */
const sails: readonly Shelf[] = ['arcade', 'puzzle', 'adventure', 'sim']
const tugs: readonly Shelf[] = ['tools', 'learn', 'data']

const sailBoat = html`<path
    class="sail"
    d="M63 14c17 13 27 30 30 46H63zM55 22C46 36 37 48 27 60h28z"
  />
  <path class="hull" d="M12 66h96l-13 18H27z" />
  <path d="M59 66V8l-13 5 13 5" />
  <circle class="lamp" cx="59" cy="8" r="3" />`

const tug = html`<path class="cabin" d="M36 62V40h44v22M46 40V25h24v15" />
  <path class="sail" d="M84 62V32h14v30" />
  <path class="hull" d="M10 60h100l-7 24H24z" />
  <path class="lamp" d="M50 29h6v7h-6zM60 29h6v7h-6zM42 46h8v8h-8zM56 46h8v8h-8z" />`

const freighter = html`<path class="sail" d="M20 62V44h24v18zM46 62V44h24v18zM33 44V26h24v18z" />
  <path class="cabin" d="M82 64V34h18v30" />
  <path class="hull" d="M6 62h108l-8 22H18z" />
  <path class="lamp" d="M87 40h8v8h-8z" />`

function boat({ id, kind, title, maker, shelf }: Tile): Html {
  const isPack = isPackKind(kind)
  const ship = sails.includes(shelf) ? sailBoat : tugs.includes(shelf) ? tug : freighter
  const shape = isPack ? freighter : ship
  return html`<li data-id="${id}">
    <a href="${isPack ? `/explore/${id}` : `/a/${id}`}"
      ><svg class="shelf-${shelf}" viewBox="0 0 120 92" aria-hidden="true">
        ${shape}
        <path class="wave" d="M0 84q10-6 20 0t20 0 20 0 20 0 20 0 20 0" /></svg
      ><span><bdi>${title}</bdi></span
      ><span class="visually-hidden"> by <bdi>${maker}</bdi></span></a
    >
  </li> `
}

/** Buildings of the far shore: x, width, height. */
const buildings = [
  [96, 34, 30],
  [134, 26, 44],
  [164, 40, 26],
  [980, 30, 34],
  [1014, 44, 24],
  [1062, 26, 48],
  [1092, 38, 30],
] as const
const shoreY = 104

function building([x, width, height]: (typeof buildings)[number]): Html {
  const roof = shoreY - height
  const window = `M${x + 7} ${roof + 8}h5v7h-5zM${x + width - 12} ${roof + 8}h5v7h-5z`
  return html`<path d="M${x} ${shoreY}V${roof}l${width / 2}-12 ${width / 2} 12V${shoreY}" /><path
      class="lamp"
      d="${window}"
    />`
}

const waves = 'q12-7 24 0t24 0 24 0 24 0 24 0 24 0'

const shore = html`<svg
  class="shore"
  viewBox="0 0 1440 160"
  preserveAspectRatio="xMaxYMax slice"
  aria-hidden="true"
>
  <circle class="sky-light" cx="1180" cy="34" r="17" />
  <path
    class="hill"
    d="M-400 104c220-52 380-46 560-22s330 22 520-8 360-22 520 6 420 18 640 4v20z"
  />
  <g class="town">${buildings.map(building)}</g>
  <path class="beam" d="M1286 34 900 6v44zM1286 34l400-30v64z" />
  <path class="town" d="M1276 104l4-58h12l4 58zM1278 46V28h16v18zM1276 28l10-10 10 10" />
  <path class="lamp" d="M1282 33h8v8h-8z" />
  <path class="water" d="M-2000 104h5440v60h-5440z" />
  <path
    class="wave"
    d="M220 122${waves}M620 134${waves}M930 118${waves}M1210 138${waves}M40 142${waves}"
  />
</svg>`

const moored = (boats: readonly Tile[]): Html =>
  html`<h2 class="visually-hidden">At the quay</h2>
    <ul>
      ${boats.map(boat)}
    </ul>`

/** The first items as boats; nothing for none. */
export const boatsOf = (items: readonly Tile[]): Part =>
  items.length > 0 && moored(items.slice(0, boatsMax))

/**
 * Returns the quay of the home page or of a maker: the first `items` as boats. `above` stands in
 * the sky. A script loads the boats of `source` again, so that new ones arrive. Without items the
 * quay is empty, as on error pages.
 */
export const renderQuay = (above: Part, items: readonly Tile[] = [], source?: string): Html =>
  html`<live-quay class="quay" ${source !== undefined && html` data-source="${source}"`}>
    <div class="sky">${above}</div>
    ${shore}
    <div class="pier">${boatsOf(items)}</div>
  </live-quay>`
