import type { App } from '../../apps/apps.ts'
import { presentItem } from '../../apps/present.ts'
import { type Html, html } from '../../kernel/html.ts'
import type { AppContext } from '../../server/context.ts'
import { formatCount } from '../format.ts'
import { itemCover } from '../tiles.ts'

const states = { live: '', building: 'building', taken_down: 'taken down', closed: 'deleted' }

/** Facts about an item for its owner. */
export function ownAppFacts(ctx: AppContext, app: App): string[] {
  const { kind, state, listed, opens, version } = presentItem(ctx, app)
  const place = listed === 'on' ? 'on Explore' : ''
  const facts = [kind, states[state], `version ${version}`, formatCount(opens, 'open'), place]
  return facts.filter((fact) => fact !== '')
}

/** The cover of an item; its icon or generated art where its images are not served. */
function ownCover(ctx: AppContext, app: App, widths: 'tile' | 'thumbnail'): Html {
  const { id, shelf, icon, cover } = presentItem(ctx, app)
  const isServed = app.quarantinedAt === null && app.takenDown === null
  const shown = { id, shelf, icon: isServed ? icon : null, cover: isServed ? cover : null }
  return itemCover(ctx, shown, { widths })
}

/** An item in a list of its owner, with a link to the studio. */
export const ownAppRow = (ctx: AppContext, app: App, facts: string[] = []): Html =>
  html`<li class="own-app">
    ${ownCover(ctx, app, 'thumbnail')}
    <div>
      <a href="/studio/${app.id}"><bdi>${app.title}</bdi></a
      >${facts.length > 0 && html`<br /><span class="small">${facts.join(' · ')}</span>`}
    </div>
  </li>`

/** An item in a grid of covers. */
export const ownAppTile = (
  ctx: AppContext,
  app: App,
  { href, facts = [] }: { href: string; facts?: string[] },
): Html =>
  html`<li class="tile">
    <a class="tile-link" href="${href}"
      >${ownCover(ctx, app, 'tile')}
      <h3><bdi>${app.title}</bdi></h3></a
    >${facts.length > 0 && html`<p class="small">${facts.join(' · ')}</p>`}
  </li>`
