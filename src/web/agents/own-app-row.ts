import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/html.ts'
import type { App } from '../../hosting/apps/apps.ts'
import { presentItem } from '../../hosting/apps/present.ts'
import { itemCover } from '../tiles.ts'

/** An item in a list of its owner, with its cover or generated art and a link to the studio. */
export function ownAppRow(ctx: AppContext, app: App, facts: (string | false)[] = []): Html {
  const { id, shelf, title, icon, cover } = presentItem(ctx, app)
  // The images of a quarantined or removed app are not served.
  const isServed = app.quarantinedAt === null && app.takenDown === null
  const shown = { id, shelf, icon: isServed ? icon : null, cover: isServed ? cover : null }
  const text = facts.filter(Boolean).join(' · ')
  return html`<li class="own-app">
    ${itemCover(ctx, shown, { widths: 'thumbnail' })}
    <div>
      <a href="/studio/${id}"><bdi>${title}</bdi></a
      >${text !== '' && html`<br /><span class="small">${text}</span>`}
    </div>
  </li>`
}
