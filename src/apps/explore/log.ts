import { LRUCache } from 'lru-cache'

import type { AppContext } from '../../kernel/context.ts'
import { pageHighestFirst } from '../../kernel/cursor.ts'
import { isApiError } from '../../kernel/errors.ts'
import * as apps from '../apps.ts'
import { presentVersionCover } from '../covers/present-cover.ts'
import { withPublicCover } from '../covers/version-covers.ts'
import { isPackKind } from '../kinds.ts'
import { getListed } from '../listings.ts'
import { compareVersions } from '../versions/compare.ts'
import { presentPublicVersion } from '../versions/versions.ts'
import { type LogEntry, logPageMax, type LogQuery } from './schemas.ts'

type Changes = NonNullable<LogEntry['changes']>

/** Counted changes by app and version. A version never changes, so they never get old. */
const counted = new LRUCache<string, Promise<Changes | undefined>>({ max: 5_000 })

/**
 * Returns what changed in the versions of an item up to the one on Explore, newest first. Throws
 * `not_found`, `taken_down`, and `bad_request` for a cursor of another list.
 */
export async function readLog(
  ctx: AppContext,
  id: string,
  { limit = logPageMax, cursor }: LogQuery,
): Promise<{ entries: LogEntry[]; next: string | null }> {
  const app = await getListed(ctx, id)
  const end = apps.visibleVersion(app) + 1
  let rows: apps.Version[] = []
  const find = async (count: number, before = end) =>
    (rows = await apps.listVersions(ctx, app, count, Math.min(before, end)))
  const query = { limit, ...(cursor && { cursor }) }
  const { page, next } = await pageHighestFirst('log', query, ({ version }) => version, find)
  const shown = await withPublicCover(ctx, app, rows)
  const coverOf = (row: apps.Version | undefined) =>
    row && shown.has(row) ? presentVersionCover(ctx, row) : null
  const entries = await Promise.all(
    page.map(async (row, at) => ({
      ...presentPublicVersion(row),
      changes: (await countChanges(ctx, app, row.version)) ?? null,
      before: coverOf(rows[at + 1]),
      after: coverOf(row),
    })),
  )
  return { entries, next }
}

/** Counts what a version of an app changed; undefined for the first, for packs, and while busy. */
async function countChanges(
  ctx: AppContext,
  app: apps.App,
  version: number,
): Promise<Changes | undefined> {
  if (version === 1 || isPackKind(app.kind)) return undefined
  const key = `${app.id}/${version}`
  const known = counted.get(key) ?? compare(ctx, app, version)
  counted.set(key, known)
  return known.catch((error: unknown) => {
    counted.delete(key)
    if (isApiError(error, 'try_again')) return undefined
    throw error
  })
}

async function compare(ctx: AppContext, app: apps.App, version: number): Promise<Changes> {
  const files = await compareVersions(ctx, app, version - 1, version)
  const sum = (side: 'added' | 'removed'): number | null =>
    files.some((file) => file[side] === null && file.diff === null)
      ? null
      : files.reduce((all, file) => all + (file[side] ?? 0), 0)
  return { files: files.length, added: sum('added'), removed: sum('removed') }
}
