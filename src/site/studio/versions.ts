import * as apps from '../../apps/apps.ts'
import { presentVersionCover } from '../../apps/covers/present-cover.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { restorePackVersion } from '../../apps/packs/operations.ts'
import { iconUrl } from '../../apps/present.ts'
import { restoreVersion } from '../../apps/versions/operations.ts'
import { presentVersion } from '../../apps/versions/versions.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { versionsPerAppMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import { versionOrigins } from '../components.ts'
import { formatBytes, renderAge } from '../format.ts'
import { button, hiddenField, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { cursorPager, emptyState, live, numberCursor } from '../lists.ts'
import { itemCover } from '../tiles.ts'
import {
  act,
  operationFor,
  type Studio,
  type StudioAction,
  studioPage,
  studioPath,
} from './studio.ts'

const shownMax = 30
/** Covers that a first screen shows load at once. */
const coversOnScreen = 4

export async function versionsPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, req } = studio
  const rows = await apps.listVersions(req.ctx, app, shownMax + 1, numberCursor(query))
  const { page, next } = takePage(rows, shownMax, ({ version }) => makeCursor(version))
  const main =
    page.length === 0
      ? emptyState(t('No versions yet'), t('The first version appears when the build succeeds.'))
      : html`<ol class="versions-list">
            ${page.map((row, at) => versionItem(studio, row, at))}
          </ol>
          ${cursorPager(query, studioPath(studio, 'versions'), next)}
          <div class="versions-tools">
            ${compareForm(studio)}
            <a class="button quiet" href="${studioPath(studio, 'export')}" download
              >Export all versions</a
            >
          </div>`
  return { ...studioPage(studio, 'versions', live(main)), scripts: ['auto-refresh.js'] }
}

function versionItem(studio: Studio, row: apps.Version, at: number): Html {
  const { app, req } = studio
  const { version, created, via, note, bytes } = presentVersion(row)
  const target = t('version {version}', { version })
  const name = t('Version {version}', { version })
  const isPack = isPackKind(app.kind)
  const isPublished = via === 'html' || via === 'files'
  const restore = html`${hiddenField('version', version)}${button(t('Restore'), 'quiet slim', { target })}`
  return html`<li>
    ${versionCover(studio, row, at < coversOnScreen)}
    <div>
      <h2>
        ${isPack ? name : html`<a href="${previewPath(row)}">${name}</a>`}${versionBadge(app, version)}
      </h2>
      ${note !== '' && html`<p class="version-note"><bdi>${note}</bdi></p>`}
      <p class="small facts">
        <span>${renderAge(created, req.ctx.clock.now())}</span>
        <span>${formatBytes(bytes)}</span>
        ${!isPublished && html`<span>${versionOrigins[via]}</span>`}
      </p>
      ${version > 1 && !isPack && html`<a class="small" href="${studioPath(studio, 'changes')}?to=${version}" aria-label="Show changes of version ${version}">Show changes</a>`}
    </div>
    ${version !== app.version && postForm(req.token, studioPath(studio, 'restore'), restore, 'act')}
  </li>`
}

/** Marks the version that visitors see, and a newer one that they do not see. */
function versionBadge(app: apps.App, version: number): Part {
  if (version === apps.visibleVersion(app)) return html` <span class="badge">Live</span>`
  return version === app.version && html` <span class="badge warn">Not on Explore</span>`
}

const previewPath = ({ app, version }: apps.Version): string => `/a/${app}/versions/${version}`

/** The cover of a version links to its preview, as its name does. Packs have no covers. */
function versionCover({ app, req: { ctx } }: Studio, row: apps.Version, isEager: boolean): Part {
  if (isPackKind(app.kind)) return undefined
  const { id, kind, shelf } = app
  const icon = app.quarantinedAt === null ? iconUrl(ctx, app) : null
  const shown = { id, kind, shelf, icon, cover: presentVersionCover(ctx, row) }
  return html`<a href="${previewPath(row)}" tabindex="-1" aria-hidden="true"
    >${itemCover(ctx, shown, { widths: 'version', isEager })}</a
  >`
}

/** Renders the form that compares two versions. More may follow while its page is open. */
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
        max="${versionsPerAppMax}"
        required
        inputmode="numeric"
    /></label>`
  return html`<form class="compare" action="${studioPath(studio, 'changes')}">
    ${version('from', t('From version'), from ?? app.version - 1)}${version('to', t('to version'), to ?? app.version)}${button(t('Compare'), 'quiet')}
  </form>`
}

const restore: StudioAction['work'] = async (studio, form) => {
  const version = Number(form.text('version'))
  await act(studio, operationFor(studio, restoreVersion, restorePackVersion), { version })
}

export const versionActions: Record<string, StudioAction> = {
  restore: { tab: 'versions', work: restore },
}
