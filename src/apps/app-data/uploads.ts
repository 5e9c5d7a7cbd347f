import { and, asc, count, eq, type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newSecret } from '../../kernel/ids.ts'
import { checkBytes, releaseBytes, reserveBytes } from '../../people/agents/storage-quota.ts'
import type { FileKind } from '../../store/file-kind.ts'
import type { App } from '../apps.ts'
import { bytesOf, readAsset } from '../assets/upload.ts'
import {
  uploadBytesPerAppMax,
  uploadBytesPerPlayerMax,
  uploadsPerAppMax,
  uploadsPerPlayerMax,
} from './limits.ts'
import type { Player } from './players.ts'
import type { RecordBody } from './schemas.ts'
import { countForGuest, lockSpace } from './spaces.ts'
import { uploads } from './tables.ts'

/**
 * Files that players give to an app for all its players (`service.files`). The address of the files
 * of each version serves them below this folder (src/apps/viewer/file-addresses.ts), so the
 * relative URL that a page stores in its data works in every frame of the app, and in no other.
 */
const folder = 'uploads/'
const endings: Record<FileKind['type'], string> = {
  'application/json': 'json',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
}
const namePattern = /^[A-Za-z0-9]{40}\.[a-z0-9]{3,4}$/
/**
 * A page in a subfolder resolves the URL below its own folder. Pages of Claude Code store the name,
 * and show it at "/_blob/<name>".
 */
const pathPattern = new RegExp(`(?:^|/)(?:${folder}|_blob/)(${namePattern.source.slice(1, -1)})$`)

export const uploadContents = contentReferences(uploads.sha256)

type Upload = typeof uploads.$inferSelect
/** An upload before it belongs to an app. */
export type UploadRow = Omit<Upload, 'app'>

/** Finds the file that a path names below an address of files. */
export async function findUpload(
  { db }: AppContext,
  app: string,
  path: string,
): Promise<Upload | undefined> {
  const [, name] = pathPattern.exec(path) ?? []
  if (name === undefined) return undefined
  const [row] = await db.read
    .select()
    .from(uploads)
    .where(and(eq(uploads.app, app), eq(uploads.name, name)))
  return row
}

/** Reads a data URL. Throws `bad_request`, `asset_too_large` and `bad_asset`. */
async function readContent(
  data: string,
): Promise<{ content: Uint8Array } & Pick<FileKind, 'type'>> {
  const content = bytesOf(data)
  const { type } = await readAsset(content)
  return { content, type }
}

/**
 * Stores a file of a player: a picture, a sound or JSON, by its content. Returns its relative URL.
 * Throws `bad_request`, `asset_too_large`, `bad_asset`, `data_full` and `storage_full`.
 */
export async function addUpload(
  ctx: AppContext,
  player: Player,
  data: string,
): Promise<{ url: string; type: string; bytes: number }> {
  const { app, id: author } = player
  const { content, type } = await readContent(data)
  const { length: bytes } = content
  // The transaction checks again, when the bytes are stored.
  await checkSpace(ctx.db.read, app.id, author, bytes)
  await checkBytes(ctx, app.maker, bytes)
  const { sha256 } = await ctx.storage.put(content)
  const name = `${newSecret()}.${endings[type]}`
  const created = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await lockSpace(db, app.id)
    await checkSpace(db, app.id, author, bytes)
    countForGuest(ctx, player, { bytes })
    await reserveBytes(ctx, db, app.maker, bytes)
    await db.insert(uploads).values({ app: app.id, name, author, type, bytes, sha256, created })
  })
  return { url: folder + name, type, bytes }
}

/** Throws `data_full` where one more file of these bytes does not fit. */
async function checkSpace(db: Db, app: string, author: string, bytes: number): Promise<void> {
  for (const { whose, where, filesMax, bytesMax } of [
    {
      whose: 'a player',
      where: eq(uploads.author, author),
      filesMax: uploadsPerPlayerMax,
      bytesMax: uploadBytesPerPlayerMax,
    },
    {
      whose: 'an app',
      where: undefined,
      filesMax: uploadsPerAppMax,
      bytesMax: uploadBytesPerAppMax,
    },
  ]) {
    const sum = sql`coalesce(sum(${uploads.bytes}), 0)`.mapWith(Number)
    const [stored = { files: 0, bytes: 0 }] = await db
      .select({ files: count(), bytes: sum })
      .from(uploads)
      .where(and(eq(uploads.app, app), where))
    if (stored.files >= filesMax) {
      throw new ApiError('data_full', { what: `${filesMax} files of ${whose}` })
    }
    if (stored.bytes + bytes > bytesMax) {
      throw new ApiError('data_full', { what: `${bytesMax / 1_048_576} MB of files of ${whose}` })
    }
  }
}

/** Lists the files of a player of an app. */
export const listUploadsOf = ({ db }: AppContext, app: string, author: string): Promise<Upload[]> =>
  db.read
    .select()
    .from(uploads)
    .where(and(eq(uploads.app, app), eq(uploads.author, author)))
    .orderBy(asc(uploads.name))
    .limit(uploadsPerPlayerMax)

/** Reads a file as a data URL; null when its bytes are missing. */
export async function readUpload(
  { storage }: AppContext,
  { type, sha256 }: Pick<Upload, 'type' | 'sha256'>,
): Promise<string | null> {
  const content = await storage.read(sha256)
  return content ? `data:${type};base64,${content.toBase64()}` : null
}

/** Gives records of uploads their content. */
export const readUploads = (
  ctx: AppContext,
  app: string,
  records: RecordBody[],
): Promise<RecordBody[]> =>
  Promise.all(
    records.map(async (record) => {
      const row = await findUpload(ctx, app, folder + record.name)
      return { ...record, value: row ? await readUpload(ctx, row) : null }
    }),
  )

/** Deletes files of an app: all, or those of a condition. Returns their number. */
export async function deleteUploads(
  db: Db,
  { id: app, maker }: Pick<App, 'id' | 'maker'>,
  where?: SQL,
): Promise<number> {
  const deleted = await db
    .delete(uploads)
    .where(and(eq(uploads.app, app), where))
    .returning({ bytes: uploads.bytes })
  const bytes = deleted.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes > 0) await releaseBytes(db, maker, bytes)
  return deleted.length
}

/** Stores a file of an app of another server, under its name there. Throws as `addUpload` does. */
export async function readImportedUpload(
  ctx: AppContext,
  { name, author, value }: { name: string; author: string; value: unknown },
  created: number,
): Promise<UploadRow> {
  if (!namePattern.test(name))
    rejectRequest(`The uploaded file "${name}" has an invalid name. Remove it.`)
  const { content, type } = await readContent(String(value))
  const { sha256, bytes } = await ctx.storage.put(content)
  return { name, author, type, bytes, sha256, created }
}
