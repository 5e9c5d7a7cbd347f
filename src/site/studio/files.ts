import * as apps from '../../apps/apps.ts'
import type { Folder } from '../../apps/folders/folder.ts'
import { packBytesMax, skillTextBytesMax } from '../../apps/folders/limits.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import type { InputFile } from '../../apps/folders/unzip.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { publishVersionOf } from '../../apps/packs/operations.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { formBytesMax } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { formatBytes } from '../format.ts'
import {
  button,
  confirmDialog,
  fileField,
  type Form,
  hiddenField,
  inputField,
  postForm,
  readRef,
  textArea,
} from '../forms.ts'
import type { Page } from '../layout.ts'
import { readSteps, stepsText } from '../packs/new-pack.ts'
import { fileTree } from '../packs/pack-page.ts'
import { act, noteField, type Studio, type StudioAction, studioPage, studioPath } from './studio.ts'

/** Renders the newest version of a pack: its files, an editor, and forms for more. */
export async function packFilesPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, req, submitted } = studio
  const row = await apps.getVersion(req.ctx, app.id, app.version)
  const files = await readFiles(req.ctx, row)
  const chosen = query.get('file') ?? submitted?.text('path')
  const file = files.find(({ path }) => path === chosen) ?? files[0]
  if (!row.folder || !file) throw new Error(`${app.id} has no files`)
  const viewUrl = `${studioPath(studio, 'files')}?file=`
  const main = html`<div class="pack-columns studio-files">
      <div>
        ${fileTree(row.folder.files, viewUrl, file.path)}
        <p><a class="button quiet slim" href="${viewUrl}#new-file">Add a file</a></p>
      </div>
      <div>${editor(studio, file)}</div>
    </div>
    ${app.kind === 'framework' && section(t('Steps'), stepsForm(studio, row.folder))}
    ${section(t('Add a file'), newFileForm(studio))}`
  return { ...studioPage(studio, 'files', main), styles: ['packs.css'] }
}

/** A form publishes once, and only over the version that it shows. */
const versionFields = ({ app }: Studio): Part =>
  html`${hiddenField('version', app.version)}${hiddenField('ref', newId())}`

function editor(studio: Studio, { path, bytes }: { path: string; bytes: Uint8Array }): Part {
  const { app, req, submitted } = studio
  const remove = path !== skillFile && removeForm(studio, path)
  if (imageTypeOf(path) !== undefined || bytes.byteLength > skillTextBytesMax) {
    return html`<p>
        ${path}, ${formatBytes(bytes.byteLength)}. To replace it, add a file with the same path.
      </p>
      ${remove}`
  }
  const typed = submitted?.text('path') === path ? submitted.text('text') : undefined
  const fields = html`${hiddenField('path', path)}<label class="field"
      ><span>${path}</span
      ><textarea
        name="text"
        rows="22"
        wrap="soft"
        spellcheck="false"
        autocapitalize="none"
        autocomplete="off"
        maxlength="${skillTextBytesMax}"
      >
${typed ?? new TextDecoder().decode(bytes)}</textarea>
    </label>
    ${noteField(submitted?.text('note'))}${versionFields(studio)}${button(t('Publish version {version}', { version: app.version + 1 }))}`
  return html`${postForm(req.token, studioPath(studio, 'file'), fields, 'form wide', 'multipart/form-data')}
  ${remove}`
}

const removeForm = (studio: Studio, path: string): Part =>
  postForm(
    studio.req.token,
    studioPath(studio, 'unfile'),
    html`${hiddenField('path', path)}${versionFields(studio)}${confirmDialog({
      label: t('Delete file'),
      question: html`Delete <bdi>${path}</bdi>?`,
      consequence: t('Publishes version {version} without it.', {
        version: studio.app.version + 1,
      }),
    })}`,
  )

function newFileForm(studio: Studio): Part {
  const { submitted, req } = studio
  const path = submitted?.has('newFile') ? submitted.text('path') : ''
  const fields = html`${hiddenField('newFile', 'yes')}${inputField({
    label: t('Path'),
    name: 'path',
    value: path,
    hint: t('Such as references/guide.md, scripts/run.sh or assets/logo.png.'),
  })}${textArea({
    label: t('Text'),
    name: 'text',
    value: submitted?.has('newFile') ? submitted.text('text') : '',
    max: skillTextBytesMax,
  })}${fileField({
    label: t('Or a file'),
    hint: html`Text, PNG, JPEG or WebP; at most ${formatBytes(packBytesMax)} in all.`,
    isOptional: true,
  })}${versionFields(studio)}${button(t('Add and publish'))}`
  return html`<div id="new-file">
    ${postForm(req.token, studioPath(studio, 'file'), fields, 'form', 'multipart/form-data')}
  </div>`
}

function stepsForm(studio: Studio, { steps = [] }: Folder): Part {
  const { submitted, req } = studio
  const value = submitted?.has('steps') ? submitted.text('steps') : stepsText(steps)
  const fields = html`${textArea({
    label: t('One step a line: id | title | how one knows that it is done'),
    name: 'steps',
    value,
    max: 30_000,
    required: true,
  })}${versionFields(studio)}${button(t('Publish these steps'), 'quiet')}`
  return postForm(
    req.token,
    studioPath(studio, 'steps'),
    fields,
    'form wide',
    'multipart/form-data',
  )
}

/** Publishes the next version with changed files or fields, over the version of the form. */
async function publish(
  studio: Studio,
  form: Form,
  change: (files: InputFile[]) => InputFile[],
  fields: Json = {},
): Promise<string> {
  const { ctx } = studio.req
  const { id, kind, version } = studio.app
  if (!isPackKind(kind)) throw new Error(`${id} is a ${kind}`)
  const ref = readRef(form)
  if (form.text('version') !== String(version)) {
    rejectRequest(
      t('Version {version} was published meanwhile. Reload the page and try again.', { version }),
    )
  }
  const files = change(await readFiles(ctx, await apps.getVersion(ctx, id, version)))
  const note = form.text('note').trim()
  const sent = files.map(({ path, bytes }) => ({ path, base64: bytes.toBase64() }))
  const request = { ...fields, files: sent, ...(note && { note }) }
  const published = await act(studio, publishVersionOf[kind], {}, request, ref)
  return t('Published. {value}', { value: String(published['note'] ?? '') })
}

/** Adds a file, or replaces the one with its path. */
const file: StudioAction['work'] = async (studio, form) => {
  const path = form.text('path').trim()
  if (path === '') rejectRequest(t('Enter a path.'))
  const bytes =
    (await form.file('file')?.bytes()) ??
    new TextEncoder().encode(form.text('text').replaceAll('\r\n', '\n'))
  return publish(studio, form, (files) => [
    ...files.filter((one) => one.path !== path),
    { path, bytes },
  ])
}

const removeFile: StudioAction['work'] = (studio, form) => {
  const path = form.text('path')
  if (path === skillFile) rejectRequest(t('A pack needs its SKILL.md.'))
  return publish(studio, form, (files) => files.filter((one) => one.path !== path))
}

const steps: StudioAction['work'] = (studio, form) =>
  publish(studio, form, (files) => files, { steps: readSteps(form.text('steps')) })

export const packActions: Record<string, StudioAction> = {
  file: { tab: 'files', fileBytesMax: packBytesMax + skillTextBytesMax, work: file },
  unfile: { tab: 'files', work: removeFile },
  steps: { tab: 'files', fileBytesMax: 2 * formBytesMax, work: steps },
}
