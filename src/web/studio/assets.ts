import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import * as assets from '../../hosting/apps/assets/assets.ts'
import { presentAssetList } from '../../hosting/apps/assets/present.ts'
import type { AssetBody, AssetList } from '../../hosting/apps/assets/schemas.ts'
import { formatBytes } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { form, hiddenField, inputField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

/** The files of an app's newest version, and what its page waits for. Refuses assets_off. */
export async function assetsPage(studio: Studio): Promise<Page> {
  const { agent, signedIn } = studio
  const { ctx } = signedIn
  const app = await assets.getAppWithAssets(ctx, agent, studio.app.id)
  const rows = await assets.listAssets(ctx, app.id, app.version)
  const list = presentAssetList(ctx, app, rows, await assets.listMissing(ctx, app, rows))
  const { used, limits } = list
  const main = html`${
    rows.length === 0
      ? emptyState(
          'No files yet',
          'Pictures, sounds and data that the page loads by name stand here.',
        )
      : html`<ul class="files">
            ${list.assets.map((asset) => assetItem(studio, asset))}
          </ul>
          <p class="small below">
            ${used.files} of ${limits.files} files, ${formatBytes(used.bytes)} of
            ${formatBytes(limits.appBytes)}. Older versions keep what they had.
          </p>`
  }
  ${pendingAssets(list.waiting)} ${app.version > 0 && uploadForm(studio)}`
  return studioPage(studio, 'assets', main)
}

/** The address for a look as a path, whatever name of this host the page was asked under. */
const previewPath = ({ urls }: AppContext, url: string): string =>
  url.startsWith(`${urls.app}/`) ? url.slice(urls.app.length) : url

const dimensions = ({ width, height, seconds }: AssetBody): string =>
  (width === undefined ? '' : `\u00A0· ${width}\u00A0×\u00A0${height}`) +
  (seconds === undefined ? '' : ` · ${seconds.toFixed(1)} s`)

function assetItem(studio: Studio, asset: AssetBody): Html {
  const { signedIn } = studio
  const { name, kind, type, bytes, what } = asset
  const remove = html`${hiddenField('name', name)}${confirmDialog({
    label: 'Remove',
    target: name,
    question: `Remove ${name}?`,
    consequence: 'The newest version has it no more. Older ones keep theirs.',
  })}`
  return html`<li>
    ${assetPreview(asset, previewPath(signedIn.ctx, asset.url))}
    <h2>${name}</h2>
    <p class="small">${kind} · ${type} · ${formatBytes(bytes)}${dimensions(asset)}</p>
    ${what !== undefined && html`<p class="small"><bdi>${what}</bdi></p>`}
    ${form(signedIn.token, studioPath(studio, 'remove'), remove, 'act')}
  </li>`
}

function assetPreview({ name, type, width, height }: AssetBody, url: string): Html {
  if (type.startsWith('image/')) {
    return html`<a class="look" href="${url}"
      ><img src="${url}" alt="${name}" width="${width ?? 1}" height="${height ?? 1}" loading="lazy"
    /></a>`
  }
  return type.startsWith('audio/')
    ? html`<div class="look">
        <audio controls preload="metadata" src="${url}" aria-label="${name}"></audio>
      </div>`
    : html`<p class="look"><a href="${url}">Look at it</a></p>`
}

function pendingAssets(asks: AssetList['waiting']): Part {
  return (
    asks.length > 0 &&
    html`<section>
      <h2>What the page waits for</h2>
      <ul class="rows">
        ${asks.map(
          ({ name, kind, what }) =>
            html`<li>
              <strong>${name}</strong> <span class="small">${kind}</span><br /><bdi>${what}</bdi>
            </li>`,
        )}
      </ul>
      <p class="small below">Its agent can have these made, or you upload files of these names.</p>
    </section>`
  )
}

const uploadForm = (studio: Studio): Html => {
  const { submitted } = studio
  const value = submitted?.has('file') ? submitted.text('name') : undefined
  const name = inputField({
    label: 'Name',
    name: 'name',
    max: 64,
    hint: 'Such as ship.png.',
    value,
  })
  const chosen = html`<label class="field"
    ><span>File</span
    ><span class="hint">PNG, JPEG, WebP, GIF, MP3, Ogg, WAV or JSON, at most 4 MB.</span
    ><input type="file" name="file" required
  /></label>`
  const fields = html`${name}${chosen}<button class="button">Upload</button>`
  return html`<section>
    <h2>Upload a file</h2>
    ${form(studio.signedIn.token, studioPath(studio, 'upload'), fields, 'form', 'multipart/form-data')}
  </section>`
}
