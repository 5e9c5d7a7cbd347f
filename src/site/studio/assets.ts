import * as assets from '../../apps/assets/assets.ts'
import { deleteAsset, presentAssetList, putAsset } from '../../apps/assets/operations.ts'
import type { AssetBody, AssetList } from '../../apps/assets/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { formatBytes, formatTenths } from '../format.ts'
import {
  button,
  confirmDialog,
  dropForm,
  fileField,
  hiddenField,
  inputField,
  postForm,
} from '../forms.ts'
import { dataUrlOf } from '../image-form.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { wireWord } from '../wire-words.ts'
import { act, type Studio, type StudioAction, studioPage, studioPath } from './studio.ts'

/** Renders the files of the latest version and the missing assets. Throws `assets_off`. */
export async function assetsPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { agent, req } = studio
  const { ctx } = req
  const app = await assets.getAppWithAssets(ctx, agent, studio.app.id)
  const list = presentAssetList(ctx, app, await assets.readList(ctx, app))
  const { used, limits } = list
  const main = html`${
      list.assets.length === 0
        ? emptyState(
            t('No files yet'),
            t('Upload images, audio and JSON files that the page loads by name.'),
          )
        : html`<ul class="files">
              ${list.assets.map((asset) => assetItem(studio, asset))}
            </ul>
            <p class="small below">
              ${used.files} of ${limits.files} files, ${formatBytes(used.bytes)} of
              ${formatBytes(limits.appBytes)}. Older versions keep their files.
            </p>`
    }
    <div class="setting-rows">
      ${pendingAssets(list.waiting)} ${app.version > 0 && uploadForm(studio, query)}
    </div>`
  return { ...studioPage(studio, 'assets', main), scripts: ['file-drop.js'] }
}

/** Shortens a preview URL to a path, so that it loads from the host that served the page. */
const previewPath = ({ urls }: AppContext, url: string): string =>
  url.startsWith(`${urls.app}/`) ? url.slice(urls.app.length) : url

const dimensions = ({ width, height, seconds }: AssetBody): string =>
  (width === undefined ? '' : `\u00A0· ${width}\u00A0×\u00A0${height}`) +
  (seconds === undefined ? '' : ` · ${formatTenths(seconds)} s`)

function assetItem(studio: Studio, asset: AssetBody): Html {
  const { req } = studio
  const { name, kind, type, bytes, what } = asset
  const remove = html`${hiddenField('name', name)}${confirmDialog({
    label: t('Delete'),
    target: name,
    question: t('Delete {name}?', { name }),
    consequence: t('The latest version loses this file. Older versions keep it.'),
  })}`
  return html`<li>
    ${assetPreview(asset, previewPath(req.ctx, asset.url))}
    <h2>${name}</h2>
    <p class="small">${wireWord(kind)} · ${type} · ${formatBytes(bytes)}${dimensions(asset)}</p>
    ${what !== undefined && html`<p class="small"><bdi>${what}</bdi></p>`}
    ${postForm(req.token, studioPath(studio, 'remove'), remove, 'act')}
  </li>`
}

function assetPreview({ name, type, width, height }: AssetBody, url: string): Html {
  if (type.startsWith('image/')) {
    return html`<a class="preview" href="${url}"
      ><img src="${url}" alt="${name}" width="${width ?? 1}" height="${height ?? 1}" loading="lazy"
    /></a>`
  }
  return type.startsWith('audio/')
    ? html`<div class="preview">
        <audio controls preload="metadata" src="${url}" aria-label="${name}"></audio>
      </div>`
    : html`<p class="preview"><a href="${url}">Preview</a></p>`
}

function pendingAssets(pending: AssetList['waiting']): Part {
  return (
    pending.length > 0 &&
    section(
      t('Missing assets'),
      html`<ul class="rows">
          ${pending.map(
            ({ name, kind, what }) =>
              html`<li>
                <strong>${name}</strong> <span class="small">${wireWord(kind)}</span><br /><bdi
                  >${what}</bdi
                >
                <p>
                  <a
                    class="button quiet slim"
                    href="?name=${encodeURIComponent(name)}#upload"
                    aria-label="Upload ${name}"
                    >Upload</a
                  >
                </p>
              </li>`,
          )}
        </ul>
        <p class="small below">
          The page expects these files. Upload files with these names, or have the agent generate
          them.
        </p>`,
    )
  )
}

/** The form that uploads a file, for the name of a missing one if the query has it. */
const uploadForm = (studio: Studio, query: URLSearchParams): Html => {
  const { submitted } = studio
  const value = submitted?.has('file') ? submitted.text('name') : (query.get('name') ?? undefined)
  const name = inputField({
    label: t('Name (optional)'),
    name: 'name',
    max: 64,
    hint: t('For example ship.png. Leave it empty to use the name of the file.'),
    value,
    isOptional: true,
  })
  const chosen = fileField({
    label: t('File'),
    hint: html`PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, M4A, WebM audio or JSON, at most 4 MB.
      <span class="with-script">Drop it here.</span>`,
  })
  const fields = html`${name}${chosen}${button(t('Upload'))}`
  const form = dropForm(studio.req.token, studioPath(studio, 'upload'), fields)
  return html`<div id="upload">${section(t('Upload file'), form)}</div>`
}

/** Returns the name of an uploaded file in the characters of asset names. */
const fileName = (file: File): string =>
  file.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(-64)

const upload: StudioAction['work'] = async (studio, form) => {
  const file = form.file('file') ?? rejectRequest(t('Choose a file.'))
  const name = form.text('name').trim() || fileName(file)
  await act(studio, putAsset, { name }, { data: await dataUrlOf(file) })
}

const remove: StudioAction['work'] = async (studio, form) => {
  await act(studio, deleteAsset, { name: form.text('name') })
}

export const assetActions: Record<string, StudioAction> = {
  upload: { tab: 'assets', fileBytesMax: assetBytesMax, work: upload },
  remove: { tab: 'assets', work: remove },
}
