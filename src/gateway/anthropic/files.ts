import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin, listedModelsMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { findAll, type StoredFile } from '../files/files.ts'
import { expiryOf } from '../files/lifetime.ts'
import type { Form } from '../files/upload.ts'
import { pageBetween } from '../list.ts'
import type { AnthropicFile, AnthropicFileList, FileListQuery } from './schemas.ts'

const pageSizeDefault = 20
const idsMax = 100

/**
 * Lists the files of an account, newest first, in the pages of Anthropic's API: both those of ids
 * and those of `page`. `ids`: those of the only files to list, on one page. Throws `bad_request`.
 */
export async function listFiles(
  ctx: AppContext,
  account: AccountId,
  { limit = pageSizeDefault, after_id, before_id: before, page: cursor }: FileListQuery,
  ids: string[],
): Promise<AnthropicFileList> {
  if (ids.length > idsMax) throw invalidField('ids', `Send at most ${idsMax} ids.`)
  const isByIds = ids.length > 0
  const size = isByIds ? idsMax : requireWhole('limit', limit, listedModelsMax)
  const files = await findAll(ctx, account)
  const listed = isByIds ? files.filter(({ id }) => ids.includes(id)) : files
  const { page, ...ends } = pageBetween(listed, { after: after_id ?? cursor, before }, size)
  const isForward = ends.has_more && before === undefined
  return {
    data: page.map((file) => present(ctx, file)),
    ...ends,
    next_page: isForward ? ends.last_id : null,
  }
}

/** Reads `expires_in_seconds` of an upload. Throws `bad_request`. */
export function readExpiry(form: Form): number | undefined {
  const text = form.get('expires_in_seconds')
  if (text === null) return undefined
  const seconds = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  if (seconds >= fileKeptSecondsMin && seconds <= fileKeptSecondsMax) return seconds
  throw invalidField(
    'expires_in_seconds',
    `expires_in_seconds must be an integer from ${fileKeptSecondsMin} to ${fileKeptSecondsMax}.`,
  )
}

/** Converts a file to Anthropic's format. */
export function present(ctx: AppContext, file: StoredFile): AnthropicFile {
  const expires = expiryOf(ctx, file)
  return {
    type: 'file',
    id: file.id,
    filename: file.filename,
    mime_type: file.type,
    size_bytes: file.bytes,
    created_at: iso(file.created),
    expires_at: expires === null ? null : iso(expires),
    downloadable: true,
  }
}
