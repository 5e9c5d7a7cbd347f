import type { Item } from '../apps/explore/schemas.ts'
import { type Html, html } from '../kernel/html.ts'
import type { AppContext } from '../server/context.ts'
import { openLabel, playIcon } from './components.ts'
import { itemCover } from './tiles.ts'

/**
 * The cover of an item with a large play button. With scripts it plays in place, in the same
 * sandbox as its link; without, it opens the link.
 */
export const playHere = (ctx: AppContext, item: Item): Html =>
  html`<play-here data-title="${item.title}"
    ><a class="poster" href="/a/${item.id}" aria-label="${openLabel(item)} ${item.title}"
      >${itemCover(ctx, item, { widths: 'wide', isEager: true })}<span class="start-button"
        >${playIcon}${openLabel(item)}</span
      ></a
    ></play-here
  >`
