import type { App, Version } from '../../apps/apps.ts'
import { presentVersionCover } from '../../apps/covers/present-cover.ts'
import { isPackKind } from '../../apps/kinds.ts'
import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { playIcon } from '../../site/components.ts'
import { itemCover } from '../../site/tiles.ts'

/** Findings of a page that fit beside it. */
const findingsShown = 5

/**
 * Renders the picture of a page that needs a decision. A press shows the page itself in the
 * sandbox, also while it is in quarantine. Nothing of it runs before.
 */
export function caseImage(ctx: AppContext, app: App, version: Version | undefined): Part {
  if (!version || isPackKind(app.kind)) return false
  const { id, title, shelf } = app
  const shown = { id, shelf, icon: null, cover: presentVersionCover(ctx, version) }
  return html`<play-here data-title="${title}"
    ><a
      class="poster"
      href="/a/${id}/versions/${version.version}"
      aria-label="Show its page in a safe frame"
      >${itemCover(ctx, shown)}<span class="start-button">${playIcon}Show</span></a
    ></play-here
  >`
}

/** Renders what the safety check found in the newest version of an item. */
export function caseFindings(version: Version | undefined): Part {
  const all = version?.findings ?? []
  if (all.length === 0) return html`<p class="small">The safety check found nothing.</p>`
  const more = all.length - findingsShown
  return html`<ul class="small case-findings">
    ${all
      .slice(0, findingsShown)
      .map(
        ({ code, line, excerpt }) =>
          html`<li><code>${code}</code> in line ${line}: <code>${excerpt}</code></li>`,
      )}${more > 0 && html`<li>${more} more</li>`}
  </ul>`
}
