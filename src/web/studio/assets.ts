import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import * as assets from '../../hosting/assets/assets.ts'
import { presentList } from '../../hosting/assets/present.ts'
import type { AssetListShape, AssetShape } from '../../hosting/assets/schemas.ts'
import type { Page } from '../layout.ts'
import { empty } from '../lists.ts'
import { sizeOf } from '../parts.ts'
import { ask } from '../people/ask.ts'
import { field, form, hidden } from '../people/form.ts'
import { at, type Studio, studioPage } from './studio.ts'

/** The files of an app's newest version, and what its page waits for. Refuses assets_off. */
export async function assetsPage(studio: Studio): Promise<Page> {
  const { agent, own } = studio
  const { ctx } = own
  const app = await assets.theApp(ctx, agent, studio.app.id)
  const rows = await assets.rowsOf(ctx, app.id, app.version)
  const list = presentList(ctx, app, rows, await assets.waitingOf(ctx, app, rows))
  const { used, limits } = list
  const main = html`${
    rows.length === 0
      ? empty('No files yet', 'Pictures, sounds and data that the page loads by name stand here.')
      : html`<ul class="files">
            ${list.assets.map((asset) => file(studio, asset))}
          </ul>
          <p class="small below">
            ${used.files} of ${limits.files} files, ${sizeOf(used.bytes)} of
            ${sizeOf(limits.appBytes)}. Older versions keep what they had.
          </p>`
  }
  ${waiting(list.waiting)} ${app.version > 0 && upload(studio)}`
  return studioPage(studio, 'assets', main)
}

/** The address for a look as a path, whatever name of this host the page was asked under. */
const lookAt = ({ urls }: AppContext, url: string): string =>
  url.startsWith(`${urls.app}/`) ? url.slice(urls.app.length) : url

const sizes = ({ width, height, seconds }: AssetShape): string =>
  (width === undefined ? '' : `\u00A0· ${width}\u00A0×\u00A0${height}`) +
  (seconds === undefined ? '' : ` · ${seconds.toFixed(1)} s`)

function file(studio: Studio, asset: AssetShape): Html {
  const { own } = studio
  const { name, kind, type, bytes, what } = asset
  const remove = html`${hidden('name', name)}${ask({
    word: 'Remove',
    of: name,
    question: `Remove ${name}?`,
    ends: 'The newest version has it no more. Older ones keep theirs.',
  })}`
  return html`<li>
    ${look(asset, lookAt(own.ctx, asset.url))}
    <h2>${name}</h2>
    <p class="small">${kind} · ${type} · ${sizeOf(bytes)}${sizes(asset)}</p>
    ${what !== undefined && html`<p class="small"><bdi>${what}</bdi></p>`}
    ${form(own.token, at(studio, 'remove'), remove, 'act')}
  </li>`
}

function look({ name, type, width, height }: AssetShape, url: string): Html {
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

function waiting(asks: AssetListShape['waiting']): Part {
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

const upload = (studio: Studio): Html => {
  const { sent } = studio
  const value = sent?.has('file') ? sent.text('name') : undefined
  const name = field({ label: 'Name', name: 'name', max: 64, hint: 'Such as ship.png.', value })
  const chosen = html`<label class="field"
    ><span>File</span
    ><span class="hint">PNG, JPEG, WebP, GIF, MP3, Ogg, WAV or JSON, at most 4 MB.</span
    ><input type="file" name="file" required
  /></label>`
  const fields = html`${name}${chosen}<button class="button">Upload</button>`
  return html`<section>
    <h2>Upload a file</h2>
    ${form(studio.own.token, at(studio, 'upload'), fields, 'form', 'multipart/form-data')}
  </section>`
}
