import { ApiError } from '../../errors.ts'
import { readBodyBytes, readJsonBody } from '../../http/body.ts'
import { createValidator } from '../../http/validation.ts'
import { idempotencyKeyOf } from '../../idempotency/idempotency.ts'
import { packBytesMax, packJsonBytesMax, packZipBytesMax } from '../folders/limits.ts'
import { rejectPack } from '../folders/read-pack.ts'
import type { InputFile } from '../folders/unzip.ts'
import { zipReader } from '../folders/zip-reader.ts'
import type { PackKind } from '../kinds.ts'
import { type PackRequest, requests } from './schemas.ts'

/** A request that publishes: its fields, and the files that it sends. */
export interface ParsedRequest {
  fields: Omit<PackRequest, 'skill' | 'files'>
  files: InputFile[]
}

type Action = 'publish' | 'version'

const validators = {
  skill: {
    publish: createValidator(requests.skill.publish),
    version: createValidator(requests.skill.version),
  },
  framework: {
    publish: createValidator(requests.framework.publish),
    version: createValidator(requests.framework.version),
  },
}

/**
 * Reads a request that publishes: JSON, or a zip whose fields are query parameters. Throws
 * `bad_request`, `too_large`, `try_again`, and `bad_skill` for files that cannot be read.
 */
export async function parsePackRequest(
  request: Request,
  kind: PackKind,
  action: Action,
): Promise<ParsedRequest> {
  const type = request.headers.get('content-type') ?? ''
  const isZip = /^application\/(zip|x-zip-compressed)\b/i.test(type)
  const body = isZip ? fieldsOf(request) : await readJsonBody(request, packJsonBytesMax)
  if (isZip && kind === 'framework' && action === 'publish' && !('steps' in Object(body))) {
    const problem = '"steps" is missing. With a zip, send it as JSON in the query: ?steps=[…]'
    throw new ApiError('bad_request', { problem, param: 'steps' })
  }
  const { skill, files, ...fields } = validated(body, kind, action)
  const ref = idempotencyKeyOf(request, fields.ref)
  const named = { ...fields, ...(ref !== undefined && { ref }) }
  if (isZip) return { fields: named, files: await readZip(request) }
  if ((skill === undefined) === (files === undefined)) {
    const problem = 'Send exactly one of "skill" and "files", or a zip as application/zip.'
    throw new ApiError('bad_request', { problem })
  }
  return { fields: named, files: files ? decodeFiles(files) : [textFile('SKILL.md', skill ?? '')] }
}

function validated(body: unknown, kind: PackKind, action: Action): PackRequest {
  validators[kind][action](body)
  // The validator has just checked it.
  return Object(body)
}

const textFile = (path: string, text: string): InputFile => ({
  path,
  bytes: new TextEncoder().encode(text),
})

function decodeFiles(files: NonNullable<PackRequest['files']>): InputFile[] {
  return files.map(({ path, text, base64 }) => {
    const shown = JSON.stringify(path.slice(0, 200))
    if ((text === undefined) === (base64 === undefined)) {
      return rejectPack([`the file ${shown} must have exactly one of "text" and "base64".`])
    }
    if (text !== undefined) return textFile(path, text)
    try {
      return { path, bytes: Uint8Array.fromBase64(base64 ?? '') }
    } catch {
      return rejectPack([`the "base64" of the file ${shown} cannot be decoded.`])
    }
  })
}

async function readZip(request: Request): Promise<InputFile[]> {
  const found = await zipReader.read(await readBodyBytes(request, packZipBytesMax))
  if ('reasons' in found) return rejectPack(found.reasons)
  if ('files' in found) return found.files
  throw new ApiError('too_large', { bytes: found.tooLarge, max: packBytesMax })
}

/** Fields that are not texts, in the query of a zip. */
const jsonFields = new Set(['store', 'dryRun', 'priceRemix', 'steps', 'share'])

function fieldsOf({ url }: Request): Record<string, unknown> {
  const entries = [...new URL(url).searchParams].map(([name, text]) => {
    if (!jsonFields.has(name)) return [name, text]
    try {
      return [name, JSON.parse(text)]
    } catch {
      throw new ApiError('bad_request', { problem: `"${name}" must be JSON.`, param: name })
    }
  })
  return Object.fromEntries(entries)
}
