import { promisify } from 'node:util'

import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'

import { htmlBytesMax } from '../kernel/limits.ts'
import { minute } from '../kernel/time.ts'
import type { AppContext } from '../server/context.ts'
import { readPage } from './page-content.ts'
import { versions } from './tables.ts'

const bestQuality = 11

/** Pages that are replaced within this time are not worth the work. */
const settledMs = 10 * minute

/** Compresses one page with brotli level 11, which takes seconds. Returns whether there was one. */
export async function recompressOne(ctx: AppContext): Promise<boolean> {
  const [page] = await ctx.db.read
    .select()
    .from(versions)
    .where(
      and(
        // A literal lets both engines use the partial index.
        sql`${versions.brLevel} = 5`,
        gt(versions.brBytes, 0),
        lte(versions.created, ctx.clock.now() - settledMs),
      ),
    )
    .orderBy(asc(versions.created))
    .limit(1)
  if (!page) return false
  const { brotliCompress, constants } = await import('node:zlib')
  const { identity, gzip = new Uint8Array() } = await readPage(ctx, page)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: bestQuality,
    [constants.BROTLI_PARAM_LGWIN]: 22,
    [constants.BROTLI_PARAM_SIZE_HINT]: Math.min(identity.byteLength, htmlBytesMax),
  }
  // Runs in the thread pool of the runtime and blocks no request.
  const br = await promisify(brotliCompress)(identity, { params })
  const better = br.byteLength < page.brBytes
  const pack = better
    ? (await ctx.storage.put(Buffer.concat([identity, gzip, br]))).sha256
    : page.pack
  const brBytes = better ? br.byteLength : page.brBytes
  await ctx.db.tx((db) =>
    db
      .update(versions)
      .set({ pack, brBytes, brLevel: bestQuality })
      .where(and(eq(versions.app, page.app), eq(versions.version, page.version))),
  )
  return true
}
