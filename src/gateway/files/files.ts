import { and, desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { contentReferences, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { filePageMax, filesPerAccountMax } from '../../kernel/limits.ts'
import { countWords } from '../../kernel/text.ts'
import { day, second, unixSeconds } from '../../kernel/time.ts'
import { hasBeenFunded } from '../../money/ledger/reports.ts'
import type { AccountId } from '../authentication.ts'
import { pageAfter, toList } from '../list.ts'
import { detectFile } from './detect.ts'
import { expiryOf, keptOf } from './lifetime.ts'
import { checkQuota, checkUnfunded, withQuota } from './quota.ts'
import type { FileListQuery, FileListResponse, FileResponse } from './schemas.ts'
import { gatewayFiles } from './tables.ts'
import type { Upload } from './upload.ts'

export type StoredFile = typeof gatewayFiles.$inferSelect

export const contents = contentReferences(gatewayFiles.sha256)
export const words = contentReferences(gatewayFiles.wordsSha256)

/** Counts the pages of a PDF; undefined for an unreadable one. Throws `try_again`. */
export async function countPages(
  ctx: AppContext,
  bytes: Uint8Array,
): Promise<{ pages: number | undefined } | undefined> {
  const read = await ctx.state.pdfReader.read(bytes, true)
  return 'unreadable' in read ? undefined : read
}

const idPattern = /^file_[A-Za-z0-9]{12}$/

/**
 * Stores a file and its extracted text (document 2, POST /v1/files). Throws `upload_type`,
 * `upload_unreadable`, `files_full`, `uploads_limit`, `try_again`.
 */
export async function create(
  ctx: AppContext,
  account: AccountId,
  upload: Upload,
): Promise<StoredFile> {
  const { bytes, filename, purpose, expiresAfterSeconds: keptSeconds } = upload
  const isFunded = await hasBeenFunded(ctx.db.read, account)
  await checkQuota(ctx, account, { rows: 1, bytes: bytes.length }, isFunded)
  const { kind, type, text, pages, seconds } = await detectFile(ctx.state.pdfReader, bytes)
  const words = text && kind !== 'text' ? new TextEncoder().encode(text) : undefined
  const size = bytes.length + (words?.length ?? 0)
  return withQuota(ctx, account, size, isFunded, async () => {
    if (!isFunded) await checkUnfunded(ctx, size)
    const { sha256 } = await ctx.storage.put(bytes)
    const wordsSha256 = words ? (await ctx.storage.put(words)).sha256 : text ? sha256 : null
    const created = ctx.clock.now()
    const row: StoredFile = {
      id: `file_${newId()}`,
      account,
      filename,
      purpose,
      kind,
      type,
      bytes: bytes.length,
      sha256,
      wordsSha256,
      pages: pages ?? null,
      words: text === undefined ? null : countWords(text),
      durationMs: seconds === undefined ? null : Math.round(seconds * 1_000),
      created,
      expires: keptSeconds === undefined ? null : created + keptSeconds * second,
      used: created,
    }
    await ctx.db.tx(async (db) => {
      await lock(db, `files of ${account}`)
      await checkQuota(ctx, account, { rows: 1, bytes: bytes.length }, isFunded, db)
      await db.insert(gatewayFiles).values(row)
    })
    return row
  })
}

/**
 * Stores a file that this gateway created, such as the results of a batch. The account has paid for
 * it, so no quota applies. `insertResults` adds the row in the transaction of the work.
 */
export async function storeResult(
  { storage, clock }: AppContext,
  account: AccountId,
  { bytes, filename, purpose }: Upload,
): Promise<StoredFile> {
  const { sha256 } = await storage.put(bytes)
  const created = clock.now()
  return {
    id: `file_${newId()}`,
    account,
    filename,
    purpose,
    kind: 'text',
    type: 'text/plain; charset=utf-8',
    bytes: bytes.length,
    sha256,
    wordsSha256: sha256,
    pages: null,
    words: null,
    durationMs: null,
    created,
    expires: null,
    used: created,
  }
}

export async function insertResults(db: Db, rows: StoredFile[]): Promise<void> {
  if (rows.length > 0) await db.insert(gatewayFiles).values(rows)
}

/** Stores extracted text. A text file is its own text. */
const storeText = async (
  { storage: store }: AppContext,
  kind: StoredFile['kind'],
  { sha256 }: { sha256: string },
  text: string,
): Promise<string> =>
  kind === 'text' ? sha256 : (await store.put(new TextEncoder().encode(text))).sha256

/** Returns a file of this account. Throws `no_file`. */
export async function get(ctx: AppContext, account: AccountId, id: string): Promise<StoredFile> {
  const [file] = idPattern.test(id)
    ? await ctx.db.read
        .select()
        .from(gatewayFiles)
        .where(and(keptOf(ctx, account), eq(gatewayFiles.id, id)))
    : []
  if (!file) throw new ApiError('no_file', { id: id.slice(0, 100) })
  return file
}

/** Returns a file that a client uses, and moves its expiry once a day. Throws `no_file`. */
export async function use(ctx: AppContext, account: AccountId, id: string): Promise<StoredFile> {
  const file = await get(ctx, account, id)
  const used = ctx.clock.now()
  if (file.expires !== null || used - (file.used ?? 0) < day) return file
  try {
    await ctx.db.tx((db) => db.update(gatewayFiles).set({ used }).where(own(account, id)))
  } catch (error) {
    if (!isWriteUnavailable(error)) throw error
  }
  return { ...file, used }
}

const own = (account: AccountId, id: string) =>
  and(eq(gatewayFiles.account, account), eq(gatewayFiles.id, id))

/** Reads the bytes of a file. Throws `no_file`. */
export async function readBytes(
  ctx: AppContext,
  file: StoredFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await ctx.storage.read(file.sha256)
  if (!bytes) throw new ApiError('no_file', { id: file.id })
  return new Uint8Array(bytes)
}

/** Reads the extracted text of a file; undefined when there is none. */
export async function readWords(ctx: AppContext, file: StoredFile): Promise<string | undefined> {
  const bytes = file.wordsSha256 && (await ctx.storage.read(file.wordsSha256))
  return bytes ? new TextDecoder().decode(bytes) : undefined
}

/** Returns all files of an account, newest first. */
export const findAll = (ctx: AppContext, account: AccountId): Promise<StoredFile[]> =>
  ctx.db.read
    .select()
    .from(gatewayFiles)
    .where(keptOf(ctx, account))
    .orderBy(desc(gatewayFiles.created), desc(gatewayFiles.id))
    .limit(filesPerAccountMax)

/**
 * Lists the account's files in OpenAI's pages, by default newest first. Throws `bad_request`, also
 * when `after` is not in the list.
 */
export async function list(
  ctx: AppContext,
  account: AccountId,
  { limit = filesPerAccountMax, after, order, purpose }: FileListQuery,
): Promise<FileListResponse> {
  const size = requireWhole('limit', limit, filePageMax)
  const rows = await findAll(ctx, account)
  const ordered = order === 'asc' ? rows.toReversed() : rows
  const matching = ordered.filter((row) => purpose === undefined || row.purpose === purpose)
  const { page, hasMore } = pageAfter(matching, after, size)
  return toList(
    page.map((file) => present(ctx, file)),
    hasMore,
  )
}

/** Stores the transcript of an audio file, for all chats that name it. */
export async function saveTranscript(
  ctx: AppContext,
  { id, account, kind, sha256 }: StoredFile,
  text: string,
): Promise<void> {
  const wordsSha256 = text === '' ? null : await storeText(ctx, kind, { sha256 }, text)
  const changes = { wordsSha256, words: countWords(text) }
  await ctx.db.tx((db) => db.update(gatewayFiles).set(changes).where(own(account, id)))
}

/** Deletes a file. The storage sweep deletes unreferenced bytes. Throws `no_file`. */
export async function remove(ctx: AppContext, account: AccountId, id: string): Promise<void> {
  const file = await get(ctx, account, id)
  await ctx.db.tx((db) => db.delete(gatewayFiles).where(own(account, file.id)))
}

/** Converts a file to its wire format. */
export function present(ctx: AppContext, file: StoredFile): FileResponse {
  const expires = expiryOf(ctx, file)
  return {
    id: file.id,
    file_id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: unixSeconds(file.created),
    ...(expires !== null && { expires_at: unixSeconds(expires) }),
    filename: file.filename,
    purpose: file.purpose,
    kind: file.kind,
    type: file.type,
    words: file.words,
    pages: file.pages,
    seconds: file.durationMs === null ? null : file.durationMs / 1_000,
    status: file.kind === 'audio' && file.words === null ? 'uploaded' : 'processed',
  }
}
