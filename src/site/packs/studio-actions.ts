import * as apps from '../../apps/apps.ts'
import { skillFile } from '../../apps/folders/read-pack.ts'
import type { InputFile } from '../../apps/folders/unzip.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { publishVersionOf } from '../../apps/packs/operations.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import type { Json } from '../../kernel/schema.ts'
import { type Form, readRef, rejectForm } from '../forms.ts'
import { act, type Studio, type StudioAction } from '../studio/studio.ts'
import { readSteps } from './step-lines.ts'

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
    rejectForm(`Version ${version} was published meanwhile. Reload the page and try again.`)
  }
  const files = change(await readFiles(ctx, await apps.getVersion(ctx, id, version)))
  const note = form.text('note').trim()
  const sent = files.map(({ path, bytes }) => ({ path, base64: bytes.toBase64() }))
  const request = { ...fields, files: sent, ...(note && { note }) }
  const published = await act(studio, publishVersionOf[kind], {}, request, ref)
  return `Published. ${String(published['note'] ?? '')}`
}

/** Adds a file, or replaces the one with its path. */
const file: StudioAction['work'] = async (studio, form) => {
  const path = form.text('path').trim()
  if (path === '') rejectForm('Enter a path.')
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
  if (path === skillFile) rejectForm('A pack needs its SKILL.md.')
  return publish(studio, form, (files) => files.filter((one) => one.path !== path))
}

const steps: StudioAction['work'] = (studio, form) =>
  publish(studio, form, (files) => files, { steps: readSteps(form.text('steps')) })

export const packActions: Record<string, StudioAction> = {
  file: { tab: 'files', work: file },
  unfile: { tab: 'files', work: removeFile },
  steps: { tab: 'files', work: steps },
}
