import { asc, eq, inArray, lte } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { idPattern, newId } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import { mediaLinkMs } from '../../limits.ts'
import { isSignedPath, type LinkSignature, signPath } from '../../storage/signed-url.ts'
import { mediaFiles } from './tables.ts'

export type MediaFile = typeof mediaFiles.$inferSelect

/** What is still kept, to be answered with. */
interface MediaContent {
  type: string
  bytes: Blob
}

/** Keeps bytes; the row is for `record`, in the transaction that pays for them. */
export async function store(
  { storage: store, clock }: AppContext,
  { bytes, type, forMs }: { bytes: Uint8Array; type: string; forMs: number },
): Promise<MediaFile> {
  const { sha256 } = await store.put(bytes)
  return { id: newId(), type, sha256, expires: clock.now() + forMs }
}

/** Writes the rows of what was kept. */
export async function insert(db: Db, rows: MediaFile[]): Promise<void> {
  if (rows.length > 0) await db.insert(mediaFiles).values(rows)
}

const pathOf = (id: string): string => `/v1/images/${id}`

/** Where a picture is seen without a key, for 24 hours (document 2, section 8). */
export const signedUrlOf = ({ urls, secret, clock }: AppContext, { id }: MediaFile): string =>
  urls.gateway + signPath(secret, pathOf(id), clock.now() + mediaLinkMs)

/** What a signed link leads to; undefined where the link is not ours or is too old. */
export async function findSigned(
  ctx: AppContext,
  id: string,
  marks: LinkSignature,
): Promise<MediaContent | undefined> {
  const { secret, clock } = ctx
  if (!idPattern.test(id) || !isSignedPath(secret, pathOf(id), marks, clock.now())) return undefined
  return find(ctx, id)
}

/** Something that is still kept. */
export async function find(
  { db, storage: store }: AppContext,
  id: string,
): Promise<MediaContent | undefined> {
  const [row] = await db.read.select().from(mediaFiles).where(eq(mediaFiles.id, id))
  const bytes = row && (await store.open(row.sha256))
  return bytes && { type: row.type, bytes }
}

/** What is kept as an answer: it may be shown in any page, and is nothing but itself. */
export const toResponse = ({ type, bytes }: MediaContent): Response =>
  new Response(bytes, {
    headers: {
      'content-type': type,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'cache-control': 'private, max-age=3600',
    },
  })

const forgottenAtOnce = 500

/** Forgets what has expired, some rows at a time; the store's sweep removes the bytes. */
export async function deleteExpired({ db, clock }: AppContext): Promise<void> {
  for (let gone = forgottenAtOnce; gone === forgottenAtOnce;) {
    const old = await db.read
      .select({ id: mediaFiles.id })
      .from(mediaFiles)
      .where(lte(mediaFiles.expires, clock.now()))
      .orderBy(asc(mediaFiles.expires))
      .limit(forgottenAtOnce)
    const ids = old.map(({ id }) => id)
    if (ids.length > 0)
      await db.tx((tx) => tx.delete(mediaFiles).where(inArray(mediaFiles.id, ids)))
    gone = ids.length
  }
}
