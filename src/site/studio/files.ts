import * as apps from '../../apps/apps.ts'
import type { Folder } from '../../apps/folders/folder.ts'
import { packBytesMax, skillTextBytesMax } from '../../apps/folders/limits.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import type { InputFile } from '../../apps/folders/unzip.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { publishVersionOf } from '../../apps/packs/operations.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import type { Json } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
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
import { fileTree } from '../packs/pack-page.ts'
import {
  hasSteps,
  readSteps,
  stepBytesMax,
  stepFieldsMax,
  stepsField,
} from '../packs/steps-field.ts'
import { act, noteField, type Studio, type StudioAction, studioPage, studioPath } from './studio.ts'

/**
 * Renders the newest version of a pack: its files, and an editor or the form that adds a file. The
 * steps of a framework are published together with the file.
 */
export async function packFilesPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, req, submitted } = studio
  const row = await apps.getVersion(req.ctx, app.id, app.version)
  const files = await readFiles(req.ctx, row)
  const chosen = query.get('file') ?? submitted?.text('path')
  const file = files.find(({ path }) => path === chosen) ?? files[0]
  if (!row.folder || !file) throw new Error(`${app.id} has no files`)
  const isNew = query.has('add') || submitted?.has('newFile') === true
  const at = studioPath(studio, 'files')
  const main = html`<div class="pack-columns studio-files">
    <div>
      ${fileTree(row.folder.files, `${at}?file=`, isNew ? '' : file.path)}
      ${!isNew && html`<a class="button quiet slim" href="${at}?add">Add file</a>`}
    </div>
    <div>
      ${isNew ? newFileForm(studio) : fileForms(studio, file, row.folder, query.get('line') ?? '')}
    </div>
  </div>`
  return {
    ...studioPage(studio, 'files', main),
    scripts: ['code-editor.js', 'step-rows.js'],
    styles: ['packs.css'],
  }
}

/** A form publishes once, and only over the version that it showed first. */
const versionFields = ({ app, submitted }: Studio): Part =>
  html`${hiddenField('version', submitted?.text('version') || app.version)}${hiddenField('ref', newId())}`

interface ShownFile {
  path: string
  bytes: Uint8Array
}

/** Renders the form of a file and of the steps, and the one that deletes the file. */
function fileForms(studio: Studio, file: ShownFile, { steps = [] }: Folder, line: string): Part {
  const { app, req, submitted } = studio
  const text = editableText(studio, file)
  const isFramework = app.kind === 'framework'
  const remove = file.path !== skillFile && removeForm(studio, file.path)
  const fields = html`${text !== undefined && editor(file.path, text, line)}${
      isFramework &&
      html`<div class="steps">
        <h2>Steps</h2>
        ${stepsField(steps, submitted)}
      </div>`
    }
    <div class="publish-line">
      ${noteField(submitted?.text('note'))}${versionFields(studio)}${button(t('Publish version {version}', { version: app.version + 1 }))}
    </div>`
  return html`<h2 class="file-name"><bdi>${file.path}</bdi></h2>
    ${
      text === undefined &&
      html`<p class="small">
        ${formatBytes(file.bytes.byteLength)}. To replace it, add a file with the same path.
      </p>`
    }
    ${(text !== undefined || isFramework) && postForm(req.token, studioPath(studio, 'file'), fields, 'code-form', 'multipart/form-data')}
    ${remove}`
}

/** Returns the text of a file that the editor takes, as its form with an error has it. */
function editableText({ submitted }: Studio, { path, bytes }: ShownFile): string | undefined {
  if (imageTypeOf(path) !== undefined || bytes.byteLength > skillTextBytesMax) return undefined
  const isTyped = submitted?.text('path') === path && submitted.has('text')
  return isTyped ? submitted.text('text') : new TextDecoder().decode(bytes)
}

const editor = (path: string, text: string, line: string): Part =>
  html`${hiddenField('path', path)}<code-editor data-label="${path}" data-line="${line}" data-plain
      ><label class="field"
        ><span class="visually-hidden">${path}</span
        ><textarea
          name="text"
          rows="18"
          wrap="soft"
          spellcheck="false"
          autocapitalize="none"
          autocomplete="off"
          maxlength="${skillTextBytesMax}"
        >
${text}</textarea>
      </label></code-editor
    >`

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
    'form below',
  )

function newFileForm(studio: Studio): Part {
  const { submitted, req } = studio
  const typed = submitted?.has('newFile') ? submitted : undefined
  const fields = html`${hiddenField('newFile', 'yes')}${inputField({
      label: t('Path'),
      name: 'path',
      value: typed?.text('path'),
      hint: t('Such as references/guide.md, scripts/run.sh or assets/logo.png.'),
    })}${textArea({
      label: t('Text'),
      name: 'text',
      value: typed?.text('text'),
      max: skillTextBytesMax,
      isCode: true,
    })}${fileField({
      label: t('Or a file'),
      hint: html`Text, PNG, JPEG or WebP; at most ${formatBytes(packBytesMax)} in all.`,
      isOptional: true,
    })}${versionFields(studio)}
    <div class="actions">
      ${button(t('Add and publish'))}<a class="button quiet" href="${studioPath(studio, 'files')}"
        >Cancel</a
      >
    </div>`
  return html`<h2 class="file-name">Add a file</h2>
    ${postForm(req.token, studioPath(studio, 'file'), fields, 'form', 'multipart/form-data')}`
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
  const files = change(await readFiles(ctx, await apps.getVersion(ctx, id, version)))
  const note = form.text('note').trim()
  const sent = files.map(({ path, bytes }) => ({ path, base64: bytes.toBase64() }))
  const over = Number(form.text('version'))
  const request = { ...fields, files: sent, version: over, ...(note && { note }) }
  const published = await act(studio, publishVersionOf[kind], {}, request, ref)
  return t('Published. {value}', { value: String(published['note'] ?? '') })
}

/**
 * Publishes a new or changed file, with the steps of the form if it has some. A form without a
 * field for a text, as for a picture, has steps only.
 */
const file: StudioAction['work'] = async (studio, form) => {
  const path = form.text('path').trim()
  const steps = hasSteps(form) ? { steps: readSteps(form) } : {}
  if (!form.has('path')) return publish(studio, form, (files) => files, steps)
  const bytes =
    (await form.file('file')?.bytes()) ??
    new TextEncoder().encode(form.text('text').replaceAll('\r\n', '\n'))
  const withFile = (files: InputFile[]) => [
    ...files.filter((one) => one.path !== path),
    { path, bytes },
  ]
  return publish(studio, form, withFile, steps)
}

const removeFile: StudioAction['work'] = (studio, form) => {
  const path = form.text('path')
  return publish(studio, form, (files) => files.filter((one) => one.path !== path))
}

export const packActions: Record<string, StudioAction> = {
  file: {
    tab: 'files',
    fileBytesMax: packBytesMax + skillTextBytesMax + stepBytesMax,
    moreFieldsMax: stepFieldsMax,
    work: file,
  },
  unfile: { tab: 'files', work: removeFile },
}
