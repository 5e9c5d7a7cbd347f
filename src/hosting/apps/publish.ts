import type { AppContext } from '../../context.ts'
import { fromCredits, inWords } from '../../core/money.ts'
import { isPlainLine, isPlainText, isVisible } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import { descriptionCharsMax, titleCharsMax } from '../../limits.ts'
import type { Finding } from '../../scan/findings.ts'
import type { Inspection } from '../../scan/inspection.ts'
import type { Agent } from '../agents/agents.ts'
import * as apps from './apps.ts'
import { tellListed } from './listing-notes.ts'
import { insertApp } from './new-app.ts'
import { inspect, keep, lookAt, read, unlistable, unsayable } from './page-content.ts'
import { linkOf, present } from './present.ts'
import type { AppChangeShape, AppShape, NewAppShape, ScanResultShape } from './schemas.ts'

/** What is said of an app until somebody says more. */
export const untold = { title: 'Untitled', description: '', shelf: 'other' } as const

/**
 * Publishes a page as a new app, version 1, live at once and free (document 1, operation 9).
 * Answers 201 Published, or 200 with scan and price for a dry run that keeps nothing.
 * Refuses bad_request, games_off, too_large, blocked_by_scan, and what `insertApp` refuses.
 */
export async function publish(
  ctx: AppContext,
  maker: Agent,
  wanted: NewAppShape & { html: string },
): Promise<Answer> {
  const named = newAppOf(ctx, wanted)
  if (wanted.dryRun) {
    const inspection = await inspect(ctx, wanted.html, maker.id)
    return { status: 200, body: { scan: presentScan(inspection), price: 0 } }
  }
  return ctx.idempotency.once(maker.id, wanted.ref, wanted, async (keepAnswer) => {
    const inspection = await inspect(ctx, wanted.html, maker.id)
    const title = wanted.title ?? inspection.title ?? named.title
    const reasons = wanted.store ? unlistable(inspection, { ...named, title }) : []
    const listed = wanted.store && reasons.length === 0 ? 'on' : 'off'
    const app: apps.NewApp = { ...named, title, listed }
    await apps.checkRoom(ctx, maker, inspection.identity.byteLength)
    const page = await keep(ctx, inspection)
    return ctx.db.tx(async (db) => {
      const made = await insertApp(ctx, db, maker, app, page)
      if (made.listed === 'on') await tellListed(ctx, db, made)
      const note = publishedNote(ctx, made, reasons)
      const body = { app: present(ctx, made), scan: presentScan(inspection), note }
      const answer = { status: 201, body }
      await keepAnswer(db, answer)
      return answer
    })
  })
}

/** What a maker says of a new app. Refuses bad_request, games_off. */
export function newAppOf(
  ctx: AppContext,
  wanted: Omit<NewAppShape, 'html' | 'prompt'>,
): apps.NewApp {
  checkKind(ctx, wanted.kind)
  checkTexts(wanted)
  return {
    kind: wanted.kind ?? 'app',
    title: wanted.title ?? untold.title,
    description: wanted.description ?? untold.description,
    shelf: wanted.shelf ?? untold.shelf,
    listed: 'off',
    ...termsOf(ctx, wanted, { remix: 'free', priceRemix: null }),
  }
}

function publishedNote(ctx: AppContext, app: apps.App, reasons: string[]): string {
  const live = `Live at ${linkOf(ctx, app.id)}.`
  if (app.listed === 'on') return `${live} It is on Explore.`
  if (reasons.length === 0) return `${live} It is not on Explore: PATCH store true to put it there.`
  return `${live} It cannot go on Explore yet: ${reasons.join(' ')}`
}

/** The scan of a page that may be hosted, as the wire shows it. */
export const presentScan = ({ scan }: Inspection): ScanResultShape => ({
  verdict: scan.verdict,
  warnings: scan.findings.map(findingOf),
})

/** One finding, as the wire shows it. */
export const findingOf = ({ effect, ...finding }: Finding) => ({ ...finding, severity: effect })

/**
 * Renames, describes, shelves, prices, puts on or takes off Explore (document 1, operation 11).
 * `note` says what happened to the Explore parts. Refuses bad_request, taken_down, busy (store
 * false during its first build), and not_listable after keeping the other changes.
 */
export async function change(
  ctx: AppContext,
  maker: Agent,
  id: string,
  wanted: AppChangeShape,
): Promise<{ app: AppShape; note: string }> {
  const app = await apps.theOwn(ctx, maker, id)
  const { store, ...others } = wanted
  if (Object.keys(wanted).length === 0) {
    throw new ApiError('bad_request', { problem: 'Nothing to change: send at least one field.' })
  }
  // Its build may have been asked to put it there when it lands.
  if (store === false) apps.checkBuilt(app)
  checkTexts(wanted)
  const found = store ? await whyNotListed(ctx, app) : []
  const { before, after, reasons } = await ctx.db.tx(async (db) => {
    const before = await apps.locked(ctx, db, app)
    const { title, description } = before
    const stays = before.listed !== 'off' && store !== false
    const unsaid = stays ? unsayable(others) : []
    const reasons = store ? [...found, ...unsayable({ title, description, ...others })] : unsaid
    const isFit = reasons.length === 0
    // The page that was read is not the one that would stand on Explore.
    if (store && isFit && before.version !== app.version) {
      throw new ApiError('try_again', { why: 'a new version was published meanwhile' })
    }
    const after = await apps.update(ctx, db, before, {
      ...others,
      // What is on Explore keeps the words that it has.
      ...(unsaid.length > 0 && { title, description }),
      ...termsOf(ctx, wanted, before),
      ...(store !== undefined && isFit && { listed: store ? 'on' : 'off' }),
    })
    if ((after.listed === 'on') !== (before.listed === 'on')) await tellListed(ctx, db, after)
    return { before, after, reasons }
  })
  if (reasons.length > 0) throw new ApiError('not_listable', { reasons })
  return { app: present(ctx, after), note: changedNote(before, after) }
}

/** What became of the Explore parts: whether it is there, with which version, and what it costs. */
function changedNote(before: apps.App, after: apps.App): string {
  const isSame = after.remix === before.remix && after.priceRemix === before.priceRemix
  return isSame ? placeNote(before, after) : `${placeNote(before, after)} ${termsNote(after)}`
}

function placeNote(before: apps.App, after: apps.App): string {
  if (after.listed === 'pending') {
    return 'It goes on Explore once the service has looked into what was reported of it.'
  }
  if (after.listed !== 'on') {
    return before.listed === 'on'
      ? 'It is off Explore now; its link works.'
      : 'It is not on Explore.'
  }
  if (before.listed !== 'on') return 'It is on Explore now.'
  return after.listedVersion === before.listedVersion
    ? 'It stays on Explore.'
    : `It stays on Explore, now with version ${after.listedVersion}.`
}

function termsNote({ remix, priceRemix }: apps.App): string {
  if (remix === 'off') return 'Nobody may remix it now.'
  return remix === 'free'
    ? 'A remix is free now.'
    : `A remix costs ${inWords(fromCredits(priceRemix ?? 0))} credits now.`
}

/** Runs the scan again at listing strength over the newest version. */
async function whyNotListed(ctx: AppContext, app: apps.App): Promise<string[]> {
  if (app.version === 0) return ['It has no version yet: wait until its first build has landed.']
  const { identity } = await read(ctx, await apps.theVersion(ctx, app.id, app.version))
  return unlistable(await lookAt(ctx, identity, app.maker))
}

function checkKind(ctx: AppContext, kind: NewAppShape['kind']): void {
  if (kind === 'game' && !ctx.config.gamesOn) throw new ApiError('games_off')
}

function checkTexts(wanted: AppChangeShape): void {
  const { title, description } = wanted
  if (title !== undefined && (!isPlainLine(title, titleCharsMax) || !isVisible(title))) {
    const problem = `"title" is one plain line of 1 to ${titleCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
  if (description !== undefined && !isPlainText(description, descriptionCharsMax)) {
    const problem = `"description" is plain text of at most ${descriptionCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
}

/** The remix terms after a request. A price goes with remix "price", and only with it. */
function termsOf(
  ctx: AppContext,
  wanted: AppChangeShape,
  before: Pick<apps.App, 'remix' | 'priceRemix'>,
): Pick<apps.App, 'remix' | 'priceRemix'> {
  const remix = wanted.remix ?? before.remix
  // What is not asked to change stays, also where prices are not open any more.
  if (wanted.remix === undefined && wanted.priceRemix === undefined) {
    return { remix, priceRemix: before.priceRemix }
  }
  if (remix !== 'price') {
    if (wanted.priceRemix === undefined) return { remix, priceRemix: null }
    throw new ApiError('bad_request', { problem: '"priceRemix" goes with "remix": "price".' })
  }
  if (!ctx.config.pricesOn) throw new ApiError('prices_off')
  const priceRemix = wanted.priceRemix ?? before.priceRemix
  if (priceRemix !== null) return { remix, priceRemix }
  throw new ApiError('bad_request', { problem: '"remix": "price" needs "priceRemix".' })
}
