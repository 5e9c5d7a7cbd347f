import { Type } from '@sinclair/typebox'
import { asc, eq, inArray, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { GuardedFetchError } from '../../kernel/fetch.ts'
import { Content } from '../../kernel/http/outcome.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { mediaLinkMs } from '../../kernel/limits.ts'
import { second } from '../../kernel/time.ts'
import { defineRow } from '../../money/ledger/settlement-rows.ts'
import { isSignedPath, type LinkSignature, signPath } from '../../store/signed-url.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readBoundedBytes } from '../paid/response-body.ts'
import { isTransientStatus } from '../providers/error-body.ts'
import { mediaFiles } from './tables.ts'

export type MediaFile = typeof mediaFiles.$inferSelect

interface MediaContent {
  type: string
  bytes: Blob
}

export const contents = contentReferences(mediaFiles.sha256)

/** Stores bytes. The caller inserts the row in the transaction of the charge. */
export async function store(
  { storage, clock }: AppContext,
  { bytes, type, forMs }: { bytes: Uint8Array; type: string; forMs: number },
): Promise<MediaFile> {
  const { sha256 } = await storage.put(bytes)
  return { id: newId(), type, sha256, expires: clock.now() + forMs }
}

export async function insert(db: Db, rows: MediaFile[]): Promise<void> {
  if (rows.length > 0) await db.insert(mediaFiles).values(rows)
}

/** The row of a stored file, in the settlement that pays for it. */
export const mediaFileRow = defineRow(
  'media_file',
  Type.Object({
    id: Type.String(),
    type: Type.String(),
    sha256: Type.String(),
    expires: Type.Number(),
  }),
  {
    write: (_ctx: unknown, db, rows) =>
      insert(
        db,
        rows.map(({ data }) => data),
      ),
  },
)

/** Deletes the row of a file. The storage sweep deletes its bytes. */
export async function remove(db: Db, id: string): Promise<void> {
  await db.delete(mediaFiles).where(eq(mediaFiles.id, id))
}

const pathOf = (id: string): string => `/v1/images/${id}`

/** Returns the signed URL of an image, valid for 24 hours without a key (document 2, section 8). */
export const signedUrlOf = ({ urls, secret, clock }: AppContext, { id }: MediaFile): string =>
  urls.gateway + signPath(secret, pathOf(id), clock.now() + mediaLinkMs)

/** Finds the file of a signed URL; undefined for an invalid or expired signature. */
export async function findSigned(
  ctx: AppContext,
  id: string,
  signature: LinkSignature,
): Promise<MediaContent | undefined> {
  const isValid =
    idPattern.test(id) && isSignedPath(ctx.secret, pathOf(id), signature, ctx.clock.now())
  return isValid ? find(ctx, id) : undefined
}

/** Finds a stored file. */
export async function find(
  { db, storage }: AppContext,
  id: string,
): Promise<MediaContent | undefined> {
  const [row] = await db.read.select().from(mediaFiles).where(eq(mediaFiles.id, id))
  const bytes = row && (await storage.open(row.sha256))
  return bytes && { type: row.type, bytes }
}

/** Returns a file that any page may embed and that browsers never render as a page. */
export const present = ({ type, bytes }: MediaContent): Content =>
  new Content(bytes, {
    'content-type': type,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'cache-control': 'private, max-age=3600',
  })

const rowsPerBatch = 500

/** Deletes expired rows, in batches. The storage sweep deletes their bytes. */
export async function deleteExpired({ db, clock }: AppContext): Promise<void> {
  for (let deleted = rowsPerBatch; deleted === rowsPerBatch;) {
    const rows = await db.read
      .select({ id: mediaFiles.id })
      .from(mediaFiles)
      .where(lte(mediaFiles.expires, clock.now()))
      .orderBy(asc(mediaFiles.expires))
      .limit(rowsPerBatch)
    const isExpired = inArray(
      mediaFiles.id,
      rows.map(({ id }) => id),
    )
    if (rows.length > 0) await db.tx((tx) => tx.delete(mediaFiles).where(isExpired))
    deleted = rows.length
  }
}

/** A result that an upstream names by its URL. */
export interface NamedResult {
  upstream: string
  url: string
  bytesMax: number
}

/**
 * A result that could not be fetched. `blocked`: its address must not be fetched. `missing`: it is
 * not there. `unavailable`: a later attempt may succeed.
 */
export type Unfetched = 'blocked' | 'missing' | 'unavailable'

type FetchContext = Pick<AppContext, 'upstreams' | 'log'>

const retryMs = second

/**
 * Fetches a result of an upstream in at most two attempts, so that this server can serve it for 24
 * hours (document 2, section 8). Failures warn the operator.
 */
export async function fetchResult(
  ctx: FetchContext,
  result: NamedResult,
  deadlines: CallDeadlines,
): Promise<Uint8Array | Unfetched> {
  const first = await fetchOnce(ctx, result, deadlines)
  if (first instanceof Uint8Array || first === 'blocked' || deadlines.cause) return first
  // Some hosts serve a result only moments after its URL.
  await Bun.sleep(retryMs)
  return fetchOnce(ctx, result, deadlines)
}

async function fetchOnce(
  { upstreams, log }: FetchContext,
  { upstream: name, url, bytesMax }: NamedResult,
  deadlines: CallDeadlines,
): Promise<Uint8Array | Unfetched> {
  const upstream = upstreams.find(name)
  if (!upstream) return 'unavailable'
  // The URL is not logged: it may be signed.
  const fail = (kind: Unfetched, why: string): Unfetched => {
    log.warn('media.not_fetched', { upstream: name, why })
    return kind
  }
  try {
    const response = await upstream.download({ url, bytesMax, signal: deadlines.signal })
    const { ok, status, headers } = response
    const isTooLong = Number(headers.get('content-length')) > bytesMax
    if (!ok || isTooLong) {
      await response.body?.cancel()
      const isTransient = !ok && isTransientStatus(status)
      return fail(isTransient ? 'unavailable' : 'missing', ok ? 'too long' : `status ${status}`)
    }
    const bytes = await readBoundedBytes(response, deadlines, bytesMax)
    return bytes ?? fail('unavailable', 'broke off, or too long')
  } catch (error) {
    const isBlocked = error instanceof GuardedFetchError
    return isBlocked ? fail('blocked', error.reason) : fail('unavailable', 'no response')
  }
}
