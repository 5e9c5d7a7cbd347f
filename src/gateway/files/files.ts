import { type Static, Type } from '@sinclair/typebox'
import { and, desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { contentReferences, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import { newId } from '../../kernel/ids.ts'
import { filePageMax, filesPerAccountMax } from '../../kernel/limits.ts'
import type { PdfReader } from '../../kernel/pdf-reader.ts'
import { namedObject, nullable, oneOf } from '../../kernel/schema.ts'
import { countWords } from '../../kernel/text.ts'
import { day, second, unixSeconds } from '../../kernel/time.ts'
import { hasBeenFunded } from '../../money/ledger/reports.ts'
import { readContainer } from '../../store/containers.ts'
import { detectPrivateFileKind } from '../../store/file-kind.ts'
import { letters } from '../../store/riff.ts'
import type { AccountId } from '../authentication.ts'
import { listSchema, pageAfter, toList } from '../list.ts'
import { checkQuota, checkUnfunded, expiryOf, keptOf, withQuota } from './quota.ts'
import { fileKinds, gatewayFiles } from './tables.ts'
import type { Upload } from './upload.ts'

/** A file in OpenAI's format, with properties of its content. */
export const FileSchema = namedObject('File', {
  id: Type.String(),
  file_id: Type.String({ description: 'The same as id, for chat requests.' }),
  object: Type.Literal('file'),
  bytes: Type.Integer(),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  expires_at: Type.Optional(
    Type.Integer({
      description: 'Seconds since 1970. A use moves it, unless expires_after set it.',
    }),
  ),
  filename: Type.String(),
  purpose: Type.String(),
  kind: oneOf(fileKinds),
  type: Type.String({ description: 'Media type, detected from the content.' }),
  words: nullable(Type.Integer({ description: 'Number of words; null when none were extracted.' })),
  pages: nullable(Type.Integer()),
  seconds: nullable(Type.Number()),
  status: oneOf(['processed', 'uploaded']),
})
export type FileResponse = Static<typeof FileSchema>

export const FileListSchema = listSchema(FileSchema)
export type FileListResponse = Static<typeof FileListSchema>

export const DeletedFileSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('file'),
  deleted: Type.Literal(true),
})

export const FileListQuerySchema = Type.Object(
  {
    limit: Type.Optional(wholeQuery(filePageMax, '1 to 10,000.')),
    after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
    order: Type.Optional(oneOf(['asc', 'desc'])),
    purpose: Type.Optional(Type.String()),
  },
  {
    additionalProperties: true,
    description: `An account has at most ${filesPerAccountMax} files.`,
  },
)
export type FileListQuery = Static<typeof FileListQuerySchema>

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

/** The properties of a file, detected from its content. */
interface DetectedFile {
  kind: (typeof fileKinds)[number]
  type: string
  /** Extracted text; undefined for media, and for a PDF that is encrypted or too long. */
  text?: string | undefined
  /** Pages of a PDF; undefined when it is encrypted. */
  pages?: number | undefined
  seconds?: number | undefined
}

/** Signatures of accepted formats. An unreadable file with one of them is damaged, not unknown. */
const signature =
  /^(\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}(WEBP|WAVE)|OggS|fLaC|ID3|\xff[\xe2\xe3\xf0-\xf3\xf8-\xfb])/

/** Control characters, except tab, line ends and form feed. */
const controlCharacter = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/

/**
 * Detects an uploaded file by its content, ignoring its name and declared type, and extracts its
 * text. Throws `upload_type`, `upload_unreadable`, and `try_again` when too many PDFs are queued.
 */
async function detectFile(pdfs: PdfReader, bytes: Uint8Array): Promise<DetectedFile> {
  if (bytes.length === 0) throw unreadable('it is empty')
  const head = letters(bytes, 0, 1_024)
  if (head.includes('%PDF-')) {
    const pdf = await pdfs.read(bytes)
    if ('unreadable' in pdf) throw unreadable(pdf.unreadable)
    return { kind: 'pdf', type: 'application/pdf', ...pdf }
  }
  const media = readContainer(bytes)
  if (media && 'reason' in media) throw unreadable(media.reason)
  if (media && media.container !== 'x-matroska') {
    const { kind, container, seconds } = media
    return { kind, type: `${kind}/${container}`, seconds }
  }
  if (!signature.test(head)) return readPlainText(bytes)
  const file = await detectPrivateFileKind(bytes)
  if ('reason' in file) throw unreadable(file.reason)
  if (file.kind === 'picture') return { kind: 'image', type: file.type }
  if (file.kind === 'sound') return { kind: 'audio', type: file.type, seconds: file.seconds }
  return readPlainText(bytes)
}

const unreadable = (why: string) => new ApiError('upload_unreadable', { why })

function readPlainText(bytes: Uint8Array): DetectedFile {
  const text = decodeUtf8(bytes)
  if (text === undefined || controlCharacter.test(text)) throw new ApiError('upload_type')
  return { kind: 'text', type: 'text/plain; charset=utf-8', text }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
