import { makeCursor, takePage } from '../../core/cursor.ts'
import { type Html, html, type Part } from '../../core/html.ts'
import * as apps from '../../hosting/apps/apps.ts'
import type { VersionBody } from '../../hosting/apps/versions/schemas.ts'
import { presentVersion } from '../../hosting/apps/versions/versions.ts'
import { isPackKind } from '../../hosting/kinds.ts'
import { versionOrigins } from '../components.ts'
import { formatBytes, renderDateTime } from '../format.ts'
import { button, form, hiddenField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { cursorPager, emptyState, numberCursor } from '../lists.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

const shownMax = 30

export async function versionsPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, req } = studio
  const rows = await apps.listVersions(req.ctx, app, shownMax + 1, numberCursor(query))
  const { page, next } = takePage(rows, shownMax, ({ version }) => makeCursor(version))
  const main =
    page.length === 0
      ? emptyState('No versions yet', 'The first version appears when the build succeeds.')
      : html`${compareForm(studio)}
          <ol class="versions-list">
            ${page.map((row) => versionItem(studio, presentVersion(row)))}
          </ol>
          ${cursorPager(query, studioPath(studio, 'versions'), next)}
          <p class="below">
            <a class="button quiet" href="${studioPath(studio, 'export')}" download
              >Export all versions</a
            >
          </p>`
  return studioPage(studio, 'versions', main)
}

function versionItem(studio: Studio, { version, created, via, note, bytes }: VersionBody): Html {
  const { app, req } = studio
  const restore = html`${hiddenField('version', version)}<button
      class="button quiet slim"
      aria-label="Restore version ${version}"
    >
      Restore
    </button>`
  return html`<li>
    <div>
      <h2>
        Version
        ${version}${version === apps.visibleVersion(app) && html` <span class="badge">Live</span>`}
      </h2>
      <p class="small">
        ${renderDateTime(created)} · ${formatBytes(bytes)} · ${versionOrigins[via]}
      </p>
      ${note !== '' && html`<p><bdi>${note}</bdi></p>`}
    </div>
    <div class="actions">
      ${!isPackKind(app.kind) && html`<a class="button quiet slim" href="/a/${app.id}/versions/${version}" aria-label="Preview version ${version}">Preview</a>`}${version > 1 && !isPackKind(app.kind) && html`<a class="button quiet slim" href="${studioPath(studio, 'changes')}?to=${version}" aria-label="Compare version ${version}">Compare</a>`}${
        version !== app.version && form(req.token, studioPath(studio, 'restore'), restore, 'act')
      }
    </div>
  </li>`
}

export function compareForm(studio: Studio, from?: number, to?: number): Part {
  const { app } = studio
  if (app.version < 2 || isPackKind(app.kind)) return undefined
  const version = (name: string, label: string, value: number): Html =>
    html`<label
      >${label}<input
        type="number"
        name="${name}"
        value="${value}"
        min="1"
        max="${app.version}"
        required
        inputmode="numeric"
    /></label>`
  return html`<form class="compare" action="${studioPath(studio, 'changes')}">
    ${version('from', 'From version', from ?? app.version - 1)}${version('to', 'to version', to ?? app.version)}${button('Compare', 'quiet')}
  </form>`
}
