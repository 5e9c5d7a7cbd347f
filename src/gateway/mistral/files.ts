import type { AppContext } from '../../kernel/context.ts'
import { lookUp } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { findAll, type StoredFile } from '../files/files.ts'
import { expiryOf } from '../files/lifetime.ts'
import { type Form, readLifetime } from '../files/upload.ts'
import type { FileListQuery, MistralFile, MistralFileList, sampleTypes } from './schemas.ts'

const pageSizeDefault = 100
/** The purpose of the files that this server writes. */
const resultPurpose = 'batch_output'

const sampleTypesByPurpose: Record<string, (typeof sampleTypes)[number]> = {
  batch: 'batch_request',
  [resultPurpose]: 'batch_result',
  pretrain: 'pretrain',
}

/**
 * Lists the files of an account, newest first, in the numbered pages of Mistral's API. `words`: the
 * parameters, which may be repeated.
 */
export async function listFiles(
  ctx: AppContext,
  account: AccountId,
  { page = 0, page_size: size = pageSizeDefault, include_total, search = '' }: FileListQuery,
  words: URLSearchParams,
): Promise<MistralFileList> {
  const isOneOf = (value: string, name: string): boolean =>
    !words.has(name) || words.getAll(name).includes(value)
  const files = (await findAll(ctx, account)).map((file) => present(ctx, file))
  const matching = files.filter(
    ({ purpose, sample_type, source, mimetype, filename }) =>
      isOneOf(purpose, 'purpose') &&
      isOneOf(sample_type, 'sample_type') &&
      isOneOf(source, 'source') &&
      isOneOf(mimetype, 'mimetypes') &&
      filename.toLowerCase().includes(search.toLowerCase()),
  )
  return {
    object: 'list',
    data: matching.slice(page * size, (page + 1) * size),
    total: include_total === 'false' ? null : matching.length,
  }
}

/** Reads the lifetime of an upload, and checks its visibility. Throws `bad_request`. */
export function readExpiry(form: Form): number | undefined {
  if (form.get('expiry') !== null) {
    throw invalidField('expiry', 'Send the lifetime in seconds, as "expires_after[seconds]".')
  }
  if ((form.get('visibility') ?? 'workspace') !== 'workspace') {
    throw invalidField('visibility', 'The files of an account have the visibility workspace.')
  }
  return readLifetime(form)
}

/** Converts a file to Mistral's format. */
export function present(ctx: AppContext, file: StoredFile): MistralFile {
  const expires = expiryOf(ctx, file)
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: unixSeconds(file.created),
    expires_at: expires === null ? null : unixSeconds(expires),
    filename: file.filename,
    purpose: file.purpose,
    sample_type: lookUp(sampleTypesByPurpose, file.purpose) ?? 'instruct',
    num_lines: null,
    mimetype: file.type,
    source: file.purpose === resultPurpose ? 'mistral' : 'upload',
    signature: null,
    visibility: 'workspace',
  }
}
