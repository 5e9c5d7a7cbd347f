import { rejectRequest } from '../../kernel/errors.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { idempotencyKeyOf } from '../../money/idempotency/idempotency.ts'
import { readJson } from '../../money/perform.ts'
import { packJsonBytesMax, packZipBytesMax } from '../folders/limits.ts'
import { rejectPack } from '../folders/read-pack.ts'
import { decodeFiles, fieldsOf, readZipRequest, textFile, zipOf } from '../folders/request.ts'
import { type InputFile, packBounds } from '../folders/unzip.ts'
import type { PackKind } from '../kinds.ts'
import { type PackRequest, requests } from './schemas.ts'

/** A request that publishes: its fields, and the files that it sends. */
export interface ParsedRequest {
  fields: Omit<PackRequest, 'skill' | 'files'>
  files: InputFile[]
}

type Action = 'publish' | 'version'

const zipLimits = { zipBytesMax: packZipBytesMax, ...packBounds }

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
 * Returns the reader of calls that publish: JSON, or a zip whose fields are query parameters. It
 * throws `bad_request`, `too_large`, `try_again`, and `bad_skill` for files that cannot be read.
 */
export const packReader =
  (kind: PackKind, action: Action) =>
  async (call: IncomingCall): Promise<ParsedRequest> => {
    const zip = zipOf(call)
    const isZip = zip !== undefined
    const body = isZip
      ? fieldsOf(call, jsonFields)
      : await readJson(call, { max: packJsonBytesMax, takesZip: true })
    if (isZip && kind === 'framework' && action === 'publish' && !('steps' in Object(body)))
      rejectRequest(
        '"steps" is missing. With a zip, send it as JSON in the query: ?steps=[…]',
        'steps',
      )
    const { skill, files, ...fields } = validated(body, kind, action)
    const ref = idempotencyKeyOf(call, fields.ref)
    const named = { ...fields, ...(ref !== undefined && { ref }) }
    if (zip) return { fields: named, files: await readZipRequest(zip, zipLimits, rejectPack) }
    if ((skill === undefined) === (files === undefined))
      rejectRequest('Send exactly one of "skill" and "files", or a zip as application/zip.')
    return {
      fields: named,
      files: files ? decodeFiles(files, rejectPack) : [textFile('SKILL.md', skill ?? '')],
    }
  }

function validated(body: unknown, kind: PackKind, action: Action): PackRequest {
  validators[kind][action](body)
  // The validator has just checked it.
  return Object(body)
}

/** Fields that are not texts, in the query of a zip. */
const jsonFields = new Set(['store', 'dryRun', 'priceRemix', 'steps', 'share'])
