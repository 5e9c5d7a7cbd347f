import * as apps from '../../apps/apps.ts'
import { skillFile } from '../../apps/folders/read-pack.ts'
import type { InputFile } from '../../apps/folders/unzip.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import { publishPackVersion } from '../../apps/packs/publish.ts'
import type { ParsedRequest } from '../../apps/packs/request.ts'
import { isRecord } from '../../kernel/schema.ts'
import { isPackKind } from '../../people/kinds.ts'
import { type Form, readRef, rejectForm } from '../forms.ts'
import type { Studio, StudioAction } from '../studio/studio.ts'
import { readSteps } from './step-lines.ts'

/** Publishes the next version with changed files or fields, over the version of the form. */
async function publish(
  { req: { ctx }, agent, app }: Studio,
  form: Form,
  change: (files: InputFile[]) => InputFile[],
  fields: Partial<ParsedRequest['fields']> = {},
): Promise<string> {
  const { id, kind, version } = app
  if (!isPackKind(kind)) throw new Error(`${id} is a ${kind}`)
  const ref = readRef(form)
  if (form.text('version') !== String(version)) {
    rejectForm(`Version ${version} was published meanwhile. Reload the page and try again.`)
  }
  const files = change(await readFiles(ctx, await apps.getVersion(ctx, id, version)))
  const note = form.text('note').trim()
  const request = { fields: { ...fields, note, ref }, files }
  const { body } = await publishPackVersion(ctx, agent, { id, kind }, request)
  return `Published. ${isRecord(body) ? String(body['note'] ?? '') : ''}`
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
