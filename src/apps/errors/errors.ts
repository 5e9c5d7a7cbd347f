import { and, asc, countDistinct, desc, eq, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm'

import { browserName } from '../../kernel/browser-name.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, hasRows } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256, sign } from '../../kernel/ids.ts'
import {
  appErrorDays,
  earlyErrorsPerNetworkDay,
  errorNetworksMin,
  errorsPerNetworkDay,
  errorsPerVersionMax,
  errorTimesPerNetworkDay,
  knownTextBytesMax,
  knownTextsMax,
  listPageMax,
} from '../../kernel/limits.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { SessionSender, Visitor } from '../../people/session-user.ts'
import { type App, getVersion, lockApp } from '../apps.ts'
import { type Asset, listAssets, readFiles } from '../assets/assets.ts'
import { getPlayable, isOpenToAll, isOwnApp } from '../audience/access.ts'
import { isScript } from '../folders/page-names.ts'
import { readPage } from '../page-content.ts'
import type { AppErrorBody, ReportErrorsRequest, SentError } from './schemas.ts'
import { appErrorNetworks as networks, appErrors as errors } from './tables.ts'

/** An error of a report. */
interface Reported {
  seen: Seen
  isEarly: boolean
}

/** An error of a version, in one browser. */
interface Seen {
  app: string
  version: number
  hash: string
  browser: string
  kind: SentError['kind']
  text: string
  file: string
  line: number
  column: number
}

/** A request of the page around an app. */
interface ErrorReport extends SessionSender {
  caller: Visitor
}

const ofError = ({ app, version, hash }: Pick<Seen, 'app' | 'version' | 'hash'>) =>
  and(eq(errors.app, app), eq(errors.version, version), eq(errors.hash, hash))

/** Browsers name different columns of one error. */
const hashOf = ({
  kind,
  text,
  file,
  line,
}: Pick<Seen, 'kind' | 'text' | 'file' | 'line'>): string =>
  sha256(JSON.stringify([kind, text, file, line])).slice(0, 32)

/**
 * Counts errors of a page that a browser sends. Its maker reads at once what the maker, its owner
 * or a page without data of its player saw. An app must not carry the data of one player to its
 * maker, so of all others it reads what the source of the page says, and the whole text when three
 * networks sent it (docs/decisions/0147). Throws `not_found`, `taken_down` and `busy`.
 */
export async function reportErrors(
  ctx: AppContext,
  id: string,
  { version, errors: sent }: ReportErrorsRequest,
  { caller: { client }, headers, context }: ErrorReport,
): Promise<void> {
  const sender = { headers, context }
  const app = await getPlayable(ctx, id, sender)
  if (version > app.version) throw new ApiError('not_found', { what: 'version' })
  const isOwn = await isOwnApp(ctx, app, sender)
  // Few people open it, so that errors could be theirs.
  if (!isOwn && !isOpenToAll(ctx, app)) return
  const browser = browserName(client.browser) ?? 'Other'
  const network = sign(ctx.secret, `error ${client.address}`).slice(0, 16)
  const all = sent.map(({ kind, early = false, line = 0, column = 0, ...texts }) => {
    const error = { kind, text: plain(texts.text), file: plain(texts.file ?? ''), line, column }
    const seen: Seen = { app: id, version, hash: hashOf(error), browser, ...error }
    return { seen, isEarly: early }
  })
  const counted = isOwn ? all : await takeWithinQuota(ctx, app, all, network)
  const needsTexts = !isOwn && counted.some(({ isEarly }) => !isEarly)
  const texts = needsTexts ? await readKnownTexts(ctx, id, version) : []
  if (counted.length === 0) return
  await ctx.db.tx(async (db) => {
    // One report at a time of an app counts exactly.
    await lockApp(ctx, db, app)
    for (const { seen, isEarly } of counted) {
      if (isOwn || isEarly) await countError(ctx, db, app, seen, true)
      else await countLateError(ctx, db, app, seen, texts)
    }
  })
}

/** PostgreSQL stores no U+0000, and no other control character says anything. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').toWellFormed()

/** Records that a network sent errors. Returns those that count. */
const takeWithinQuota = (ctx: AppContext, app: App, all: Reported[], network: string) =>
  ctx.db.tx(async (db) => {
    // One report at a time of an app limits exactly.
    await lockApp(ctx, db, app)
    const taken: Reported[] = []
    for (const one of all) if (await isWithinQuota(ctx, db, one, network)) taken.push(one)
    return taken
  })

/** Records that a network sent an error today. Returns whether it counts. */
async function isWithinQuota(
  { clock }: AppContext,
  db: Db,
  { seen: { app, version, hash }, isEarly }: Reported,
  network: string,
): Promise<boolean> {
  const today = utcDay(clock.now())
  const own = and(eq(networks.app, app), eq(networks.network, network), eq(networks.day, today))
  const [known] = await db
    .update(networks)
    .set({ times: sql`${networks.times} + 1` })
    .where(and(own, eq(networks.version, version), eq(networks.hash, hash)))
    .returning({ times: networks.times })
  if (known) return known.times <= errorTimesPerNetworkDay
  const others = isEarly
    ? and(own, eq(networks.early, true), eq(networks.version, version))
    : and(own, eq(networks.early, false))
  const max = isEarly ? earlyErrorsPerNetworkDay : errorsPerNetworkDay
  if ((await countRows(db, networks, others)) >= max) return false
  const row = { app, version, hash, network, day: today, early: isEarly, times: 1 }
  await db.insert(networks).values(row)
  return true
}

/** Counts an error of a page that may have data of its player. */
async function countLateError(
  ctx: AppContext,
  db: Db,
  app: App,
  seen: Seen,
  texts: KnownText[],
): Promise<void> {
  const found = { ...findKnownText(seen.text, texts), column: 0 }
  const known = { ...seen, ...found, hash: hashOf({ ...seen, ...found }) }
  const isWhole = known.hash === seen.hash
  const isShown = !isWhole && (await isSentByMany(db, seen))
  const isFirst = !isWhole && (await countError(ctx, db, app, seen, isShown))
  if (!isShown) await countError(ctx, db, app, known, true)
  else if (isFirst) await uncount(db, known, seen)
}

/** Takes from a short text, which others share, the times of the whole one that replaces it. */
async function uncount(db: Db, short: Seen, whole: Seen): Promise<void> {
  const rows = await db
    .select({ browser: errors.browser, count: errors.count })
    .from(errors)
    .where(ofError(whole))
  for (const { browser, count } of rows) {
    // The short text does not count the last time.
    const times = browser === whole.browser ? count - 1 : count
    await db
      .update(errors)
      .set({ count: sql`${errors.count} - ${times}` })
      .where(and(ofError(short), eq(errors.browser, browser)))
  }
  await db.delete(errors).where(and(ofError(short), lte(errors.count, 0)))
}

async function isSentByMany(db: Db, { app, version, hash }: Seen): Promise<boolean> {
  const [row] = await db
    .select({ networks: countDistinct(networks.network) })
    .from(networks)
    .where(and(eq(networks.app, app), eq(networks.version, version), eq(networks.hash, hash)))
  return (row?.networks ?? 0) >= errorNetworksMin
}

/** Adds one to an error. Returns whether its maker can read it for the first time. */
async function countError(
  ctx: AppContext,
  db: Db,
  app: App,
  seen: Seen,
  isShown: boolean,
): Promise<boolean> {
  const at = ctx.clock.now()
  if (!(await hasRows(db, errors, ofError(seen)))) await makeRoom(db, seen)
  await db
    .insert(errors)
    .values({ ...seen, count: 1, first: at, last: at, shown: null })
    .onConflictDoUpdate({
      target: [errors.app, errors.version, errors.hash, errors.browser],
      set: { count: sql`${errors.count} + 1`, last: at },
    })
  if (!isShown) return false
  const shownBefore = and(
    eq(errors.app, seen.app),
    eq(errors.version, seen.version),
    isNotNull(errors.shown),
  )
  const isFirstOfVersion = !(await hasRows(db, errors, shownBefore))
  const isFirst = !(await hasRows(db, errors, and(ofError(seen), isNotNull(errors.shown))))
  await db
    .update(errors)
    .set({ shown: at })
    .where(and(ofError(seen), isNull(errors.shown)))
  if (isFirstOfVersion) await notifyOfErrors(ctx, db, app, seen)
  return isFirst
}

/** Deletes the oldest hidden error of a version that has too many, or else the rarest one. */
async function makeRoom(db: Db, { app, version }: Seen): Promise<void> {
  const ofVersion = and(eq(errors.app, app), eq(errors.version, version))
  const [row] = await db
    .select({ errors: countDistinct(errors.hash) })
    .from(errors)
    .where(ofVersion)
  if ((row?.errors ?? 0) < errorsPerVersionMax) return
  const [first] = await db
    .select({ hash: errors.hash })
    .from(errors)
    .where(ofVersion)
    .orderBy(asc(isNotNull(errors.shown)), asc(errors.count), asc(errors.last))
    .limit(1)
  if (first) await db.delete(errors).where(ofError({ app, version, hash: first.hash }))
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

/** A text in the source of a version that an error may have, such as that of `new Error('...')`. */
interface KnownText {
  text: string
  /** Names that the error may have, which browsers write before it. */
  names: string[]
  file: string
  line: number
}

/** A text in quotes that the source throws, rejects with or logs as an error. */
const written =
  /\b(?:(\w{0,40}(?:Error|Exception)|reject|console\.error)\(\s*|throw\s+)(["'`])((?:(?!\2|\$\{)[^\\\r\n]){3,200})/g

const standard = /^(?:(?:Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error(?=: ))?/

/** Returns the first hundred texts of the page of a version and of its scripts. */
async function readKnownTexts(ctx: AppContext, app: string, number: number): Promise<KnownText[]> {
  const version = await getVersion(ctx, app, number)
  const { identity } = await readPage(ctx, version)
  const scripts = fitting(await listAssets(ctx, app, number), identity.byteLength)
  const files = [{ name: '', content: identity }, ...(await readFiles(ctx, scripts))]
  const texts: KnownText[] = []
  for (const { name: file, content } of files) {
    const source = new TextDecoder().decode(content.subarray(0, knownTextBytesMax))
    let [at, line] = [0, 1]
    for (const { 1: call, 3: text = '', index } of source.matchAll(written)) {
      if (texts.length >= knownTextsMax) return texts
      for (; at < index; at += 1) if (source[at] === '\n') line += 1
      const names = call === undefined || /reject|console/.test(call) ? [] : ['Error', call]
      texts.push({ text, names, file, line })
    }
  }
  return texts
}

/** Returns the scripts that fit the limit of bytes after the page. */
function fitting(rows: Asset[], pageBytes: number): Asset[] {
  let left = knownTextBytesMax - pageBytes
  return rows.filter(({ name, bytes }) => {
    if (!isScript(name) || bytes > left) return false
    left -= bytes
    return true
  })
}

/**
 * Returns what may be read of an error whose text may have data of a player: the text of the source
 * that it begins with, and its place there. Of all others it returns the name of a standard error.
 */
function findKnownText(
  text: string,
  texts: readonly KnownText[],
): { text: string; file: string; line: number } {
  let best = { text: '', file: '', line: 0 }
  for (const { text: known, names, file, line } of texts) {
    const heads = ['', ...names.map((name) => `${name}: `)].map((name) => name + known)
    const head = heads.find((one) => text.startsWith(one))
    if (head !== undefined && head.length > best.text.length) best = { text: head, file, line }
  }
  if (best.line > 0)
    return { ...best, text: best.text === text ? text : `${best.text.trimEnd()} …` }
  const name = standard.exec(text)?.[0] ?? ''
  return { text: name === '' ? '…' : `${name}: …`, file: '', line: 0 }
}
