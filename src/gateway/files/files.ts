import { and, count, desc, eq, gt, isNull, lte, or, sum } from 'drizzle-orm'

import { wholeOf } from '../../core/cursor.ts'
import { newId } from '../../core/ids.ts'
import { onceFor } from '../../core/once.ts'
import { wordsIn } from '../../core/text.ts'
import { second, unixSeconds } from '../../core/time.ts'
import { lock } from '../../db/lock.ts'
import type { House } from '../../house.ts'
import { fileBytesPerAccountMax, filePageMax, filesPerAccountMax } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import { misfit } from '../fields.ts'
import type { AccountId } from '../key.ts'
import { know } from './kind.ts'
import { PdfReader } from './pdf.ts'
import type { FileListShape, FileShape, ListWantedShape } from './shapes.ts'
import { gatewayFiles } from './tables.ts'
import type { Upload } from './upload.ts'

export type StoredFile = typeof gatewayFiles.$inferSelect

const readerOf = onceFor((_house: House) => new PdfReader())

/** The pages of a PDF that is not kept; undefined where they cannot be told. Refuses try_again. */
export async function pagesOf(
  house: House,
  account: AccountId,
  bytes: Uint8Array,
): Promise<{ pages: number | undefined } | undefined> {
  const read = await readerOf(house).read(bytes, account, 0)
  return 'unreadable' in read ? undefined : read
}

const idPattern = /^file_[A-Za-z0-9]{12}$/

/**
 * Keeps a file and the words read out of it, for chat requests to name by its id (document 2,
 * POST /v1/files). Refuses upload_type, upload_unreadable, files_full, try_again.
 */
export async function keep(house: House, account: AccountId, upload: Upload): Promise<StoredFile> {
  const { bytes, filename, purpose, keptSeconds } = upload
  await checkRoom(house, account, bytes.length)
  const { kind, type, text, pages, seconds } = await know(readerOf(house), bytes, account)
  const stored = await house.store.put(bytes)
  const words = text === undefined || text === '' ? null : await putWords(house, kind, stored, text)
  const created = house.clock.now()
  const row: StoredFile = {
    id: `file_${newId()}`,
    account,
    filename,
    purpose,
    kind,
    type,
    bytes: bytes.length,
    sha256: stored.sha256,
    wordsSha256: words,
    pages: pages ?? null,
    words: text === undefined ? null : wordsIn(text),
    lastsMs: seconds === undefined ? null : Math.round(seconds * 1_000),
    created,
    expires: keptSeconds === undefined ? null : created + keptSeconds * second,
  }
  await house.db.tx(async (db) => {
    await lock(db, `files of ${account}`)
    await checkRoom(house, account, bytes.length, db)
    await db.insert(gatewayFiles).values(row)
  })
  return row
}

/** A text's words are its own bytes. */
const putWords = async (
  { store }: House,
  kind: StoredFile['kind'],
  { sha256 }: { sha256: string },
  text: string,
): Promise<string> =>
  kind === 'text' ? sha256 : (await store.put(new TextEncoder().encode(text))).sha256

async function checkRoom(
  house: House,
  account: AccountId,
  bytes: number,
  db = house.db.read,
): Promise<void> {
  const [kept] = await db
    .select({ files: count(), bytes: sum(gatewayFiles.bytes).mapWith(Number) })
    .from(gatewayFiles)
    .where(ofAccount(house, account))
  const full =
    (kept?.files ?? 0) >= filesPerAccountMax || (kept?.bytes ?? 0) + bytes > fileBytesPerAccountMax
  if (!full) return
  throw new Refusal('files_full', { files: filesPerAccountMax, bytes: fileBytesPerAccountMax })
}

/** A file of this account. Refuses no_file, also for that of another account. */
export async function the(house: House, account: AccountId, id: string): Promise<StoredFile> {
  const [file] = idPattern.test(id)
    ? await house.db.read
        .select()
        .from(gatewayFiles)
        .where(and(ofAccount(house, account), eq(gatewayFiles.id, id)))
    : []
  if (!file) throw new Refusal('no_file', { id: id.slice(0, 100) })
  return file
}

/** What has expired is gone, also before it is forgotten. */
const ofAccount = ({ clock }: House, account: AccountId) =>
  and(
    eq(gatewayFiles.account, account),
    or(isNull(gatewayFiles.expires), gt(gatewayFiles.expires, clock.now())),
  )

const own = (account: AccountId, id: string) =>
  and(eq(gatewayFiles.account, account), eq(gatewayFiles.id, id))

/** The bytes of a file. Refuses no_file when they have gone. */
export async function bytesOf(house: House, file: StoredFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await house.store.read(file.sha256)
  if (!bytes) throw new Refusal('no_file', { id: file.id })
  return new Uint8Array(bytes)
}

/** The words that were read out of a file: undefined where there are none. */
export async function wordsOf(house: House, file: StoredFile): Promise<string | undefined> {
  const bytes = file.wordsSha256 && (await house.store.read(file.wordsSha256))
  return bytes ? new TextDecoder().decode(bytes) : undefined
}

/**
 * The account's files, newest first unless told otherwise, in pages as OpenAI clients ask. Refuses
 * bad_request, also for a page after a file that is not in the list.
 */
export async function list(
  house: House,
  account: AccountId,
  { limit = filesPerAccountMax, after, order, purpose }: ListWantedShape,
): Promise<FileListShape> {
  const size = wholeOf('limit', limit, filePageMax)
  const rows = await house.db.read
    .select()
    .from(gatewayFiles)
    .where(ofAccount(house, account))
    .orderBy(desc(gatewayFiles.created), desc(gatewayFiles.id))
    .limit(filesPerAccountMax)
  const ordered = order === 'asc' ? rows.toReversed() : rows
  const wanted = ordered.filter((row) => purpose === undefined || row.purpose === purpose)
  const start = after === undefined ? 0 : wanted.findIndex((row) => row.id === after) + 1
  if (after !== undefined && start === 0) {
    throw misfit('after', '"after" is no file of this list, or no more: begin again without it.')
  }
  const page = wanted.slice(start, start + size)
  return {
    object: 'list',
    data: page.map(present),
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: start + page.length < wanted.length,
  }
}

/** Keeps the words that were heard in a sound, for every chat that names it. */
export async function keepWords(
  house: House,
  { id, account, kind, sha256 }: StoredFile,
  text: string,
): Promise<void> {
  const wordsSha256 = text === '' ? null : await putWords(house, kind, { sha256 }, text)
  const heard = { wordsSha256, words: wordsIn(text) }
  await house.db.tx((db) => db.update(gatewayFiles).set(heard).where(own(account, id)))
}

/** Forgets a file; its bytes are swept when no other row names them. Refuses no_file. */
export async function remove(house: House, account: AccountId, id: string): Promise<void> {
  const file = await the(house, account, id)
  await house.db.tx((db) => db.delete(gatewayFiles).where(own(account, file.id)))
}

/** Forgets the files that have expired. */
export const forget = ({ db, clock }: House): Promise<unknown> =>
  db.tx((tx) => tx.delete(gatewayFiles).where(lte(gatewayFiles.expires, clock.now())))

/** A file on the wire. */
export const present = (file: StoredFile): FileShape => ({
  id: file.id,
  file_id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: unixSeconds(file.created),
  ...(file.expires !== null && { expires_at: unixSeconds(file.expires) }),
  filename: file.filename,
  purpose: file.purpose,
  kind: file.kind,
  type: file.type,
  words: file.words,
  pages: file.pages,
  seconds: file.lastsMs === null ? null : file.lastsMs / 1_000,
  status: file.kind === 'audio' && file.words === null ? 'uploaded' : 'processed',
})
