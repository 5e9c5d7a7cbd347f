import { type Static, Type } from '@sinclair/typebox'
import { and, asc, count, countDistinct, desc, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'

import { browserName } from '../../kernel/browser-name.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256, sign } from '../../kernel/ids.ts'
import {
  appErrorDays,
  errorNetworksMin,
  errorsPerNetworkDay,
  errorsPerReportMax,
  errorsPerVersionMax,
  errorTextCharsMax,
  listPageMax,
} from '../../kernel/limits.ts'
import { namedObject, oneOf, strictObject, TimeSchema } from '../../kernel/schema.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { findAgent } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { SessionSender, Visitor } from '../../people/session-user.ts'
import { type App, lockApp } from '../apps.ts'
import { isOpenToAll } from '../audience/access.ts'
import { getPlayable } from '../playable.ts'
import { appErrorNetworks as networks, appErrors as errors } from './tables.ts'

const kinds = ['thrown', 'rejected', 'logged'] as const

/** An error, as the shell of a page sends it. */
const SentErrorSchema = strictObject({
  kind: oneOf(kinds),
  text: Type.String({ maxLength: errorTextCharsMax }),
  file: Type.Optional(Type.String({ maxLength: 240 })),
  line: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  column: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
})
type SentError = Static<typeof SentErrorSchema>

/** POST /apps/{id}/errors. */
export const ReportErrorsSchema = strictObject(
  {
    version: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    errors: Type.Array(SentErrorSchema, { minItems: 1, maxItems: errorsPerReportMax }),
  },
  { examples: [{ version: 1, errors: [{ kind: 'thrown', text: 'ReferenceError: x', line: 3 }] }] },
)
type ReportErrorsRequest = Static<typeof ReportErrorsSchema>

export const ReportedErrorsSchema = Type.Object({ note: Type.String() })

/** An error of a page, counted over all browsers. */
const AppErrorSchema = namedObject('AppError', {
  version: Type.Integer(),
  kind: oneOf(kinds),
  text: Type.String(),
  file: Type.String({ description: 'Path in the folder; empty for the page itself.' }),
  line: Type.Integer({ description: '0 where it is not known.' }),
  column: Type.Integer(),
  count: Type.Integer({ description: 'Each network counts once a day.' }),
  browsers: Type.Array(Type.Object({ name: Type.String(), count: Type.Integer() })),
  first: TimeSchema,
  last: TimeSchema,
})
export type AppErrorBody = Static<typeof AppErrorSchema>

export const AppErrorListSchema = Type.Object({
  errors: Type.Array(AppErrorSchema, { description: 'At most 100, the newest first.' }),
  waiting: Type.Boolean({ description: 'Other errors were sent by fewer than three networks.' }),
})

/** An error of a version, in one browser. */
interface Seen extends Required<SentError> {
  app: string
  version: number
  hash: string
  browser: string
}

/** A request of the page around an app. */
interface ErrorReport extends SessionSender {
  caller: Visitor
}

const ofError = ({ app, version, hash }: Pick<Seen, 'app' | 'version' | 'hash'>) =>
  and(eq(errors.app, app), eq(errors.version, version), eq(errors.hash, hash))

/**
 * Counts errors of a page that a browser sends. Its maker reads one when its owner saw it, or when
 * three networks sent it: an app must not carry the data of one player to its maker
 * (docs/decisions/0113). Throws `not_found`, `taken_down` and `busy`.
 */
export async function reportErrors(
  ctx: AppContext,
  id: string,
  { version, errors: sent }: ReportErrorsRequest,
  { caller: { user, client }, headers, context }: ErrorReport,
): Promise<void> {
  const app = await getPlayable(ctx, id, { headers, context })
  if (version > app.version) throw new ApiError('not_found', { what: 'version' })
  const maker = await findAgent(ctx, app.maker)
  const isOwner = user !== undefined && maker?.owner === user.person.id
  // Few people open it, so that errors could be theirs.
  if (!isOwner && !isOpenToAll(ctx, app)) return
  const browser = browserName(client.browser) ?? 'Other'
  const network = sign(ctx.secret, `error ${client.address}`).slice(0, 16)
  await ctx.db.tx(async (db) => {
    // One report at a time of an app counts and limits exactly.
    await lockApp(ctx, db, app)
    for (const one of sent) {
      const { kind, line = 0, column = 0 } = one
      const [text, file] = [plain(one.text), plain(one.file ?? '')]
      const hash = sha256(JSON.stringify([kind, text, file, line, column])).slice(0, 32)
      const seen = { app: id, version, hash, browser, kind, text, file, line, column }
      if (isOwner) await countError(ctx, db, app, seen, true)
      else if (await isNewToday(ctx, db, seen, network))
        await countError(ctx, db, app, seen, await isSentByMany(db, seen))
    }
  })
}

/** PostgreSQL stores no U+0000, and no other control character says anything. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').toWellFormed()

/** Records the network of an error. A network sends three errors of an app a day, each once. */
async function isNewToday(
  { clock }: AppContext,
  db: Db,
  { app, version, hash }: Seen,
  network: string,
): Promise<boolean> {
  const today = utcDay(clock.now())
  const own = and(eq(networks.app, app), eq(networks.network, network), eq(networks.day, today))
  const [row] = await db.select({ rows: count() }).from(networks).where(own)
  if ((row?.rows ?? 0) >= errorsPerNetworkDay) return false
  const added = await db
    .insert(networks)
    .values({ app, version, hash, network, day: today })
    .onConflictDoNothing()
    .returning()
  return added.length > 0
}

async function isSentByMany(db: Db, { app, version, hash }: Seen): Promise<boolean> {
  const [row] = await db
    .select({ networks: countDistinct(networks.network) })
    .from(networks)
    .where(and(eq(networks.app, app), eq(networks.version, version), eq(networks.hash, hash)))
  return (row?.networks ?? 0) >= errorNetworksMin
}

/** Adds one to an error, unless its version has too many others. */
async function countError(
  ctx: AppContext,
  db: Db,
  app: App,
  seen: Seen,
  isShown: boolean,
): Promise<void> {
  const at = ctx.clock.now()
  const isKnown = await hasRows(db, errors, ofError(seen))
  if (!isKnown && !(await dropOldest(db, seen))) return
  await db
    .insert(errors)
    .values({ ...seen, count: 1, first: at, last: at, shown: null })
    .onConflictDoUpdate({
      target: [errors.app, errors.version, errors.hash, errors.browser],
      set: { count: sql`${errors.count} + 1`, last: at },
    })
  if (!isShown) return
  const shownBefore = and(
    eq(errors.app, seen.app),
    eq(errors.version, seen.version),
    isNotNull(errors.shown),
  )
  const isFirst = !(await hasRows(db, errors, shownBefore))
  await db
    .update(errors)
    .set({ shown: at })
    .where(and(ofError(seen), isNull(errors.shown)))
  if (isFirst) await notifyOfErrors(ctx, db, app, seen)
}

/** Deletes the oldest hidden error where a version has too many. Returns whether one fits now. */
async function dropOldest(db: Db, { app, version }: Seen): Promise<boolean> {
  const ofVersion = and(eq(errors.app, app), eq(errors.version, version))
  const [row] = await db
    .select({ errors: countDistinct(errors.hash) })
    .from(errors)
    .where(ofVersion)
  if ((row?.errors ?? 0) < errorsPerVersionMax) return true
  const [oldest] = await db
    .select({ hash: errors.hash })
    .from(errors)
    .where(and(ofVersion, isNull(errors.shown)))
    .orderBy(asc(errors.last))
    .limit(1)
  if (!oldest) return false
  await db.delete(errors).where(ofError({ app, version, hash: oldest.hash }))
  return true
}

/** Notifies the maker of the first error of a version that it can read. */
const notifyOfErrors = (ctx: AppContext, db: Db, app: App, { version, text }: Seen) =>
  notify(ctx, db, {
    to: app.maker,
    kind: 'app.error',
    item: app.id,
    text: sentence('Version {version} of “{title}” has errors. GET /apps/{id}/errors lists them.', {
      version,
      title: app.title,
      id: app.id,
    }),
    data: { version, error: text },
  })

const rowsMax = 1_000

/** Returns the errors of an app that its maker may read, the newest first. */
export async function listErrors(
  ctx: AppContext,
  { id }: Pick<App, 'id'>,
  version: number | undefined,
): Promise<{ errors: AppErrorBody[]; waiting: boolean }> {
  const ofApp = and(
    eq(errors.app, id),
    version === undefined ? undefined : eq(errors.version, version),
  )
  const rows = await ctx.db.read
    .select()
    .from(errors)
    .where(and(ofApp, isNotNull(errors.shown)))
    .orderBy(desc(errors.last), desc(errors.hash), asc(errors.browser))
    .limit(rowsMax)
  const byError = Map.groupBy(rows, (row) => `${row.version} ${row.hash}`)
  const bodies = [...byError.values()].slice(0, listPageMax).flatMap((all) => {
    const [first] = all
    if (!first) return []
    const { kind, text, file, line, column } = first
    const browsers = all.map(({ browser: name, count: times }) => ({ name, count: times }))
    return [
      {
        version: first.version,
        kind,
        text,
        file,
        line,
        column,
        count: all.reduce((sum, { count: times }) => sum + times, 0),
        browsers,
        first: iso(Math.min(...all.map((row) => row.first))),
        last: iso(Math.max(...all.map((row) => row.last))),
      },
    ]
  })
  const waiting = await hasRows(ctx.db.read, errors, and(ofApp, isNull(errors.shown)))
  return { errors: bodies, waiting }
}

/** Deletes errors that were last sent 30 days ago, and the networks of those days. */
export async function deleteOldErrors({ db, clock }: AppContext): Promise<void> {
  const before = clock.now() - appErrorDays * day
  await db.tx(async (tx) => {
    await tx.delete(errors).where(lt(errors.last, before))
    await tx.delete(networks).where(lt(networks.day, utcDay(before)))
  })
}

export async function removeErrors(db: Db, app: string): Promise<void> {
  await db.delete(errors).where(eq(errors.app, app))
  await db.delete(networks).where(eq(networks.app, app))
}
