import type { AppContext } from '../../../context.ts'
import { isPlainLine } from '../../../core/text.ts'
import { iso } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import { ApiError } from '../../../errors.ts'
import type { Answer } from '../../../idempotency/idempotency.ts'
import { versionNoteCharsMax, versionsPerAppMax } from '../../../limits.ts'
import type { Inspection } from '../../../scan/inspection.ts'
import { isForbidden } from '../../../scan/rules/text-policy.ts'
import type { Agent } from '../../agents/agents.ts'
import * as apps from '../apps.ts'
import * as pages from '../page-content.ts'
import { linkOf, present } from '../present.ts'
import { presentScan } from '../publish.ts'
import * as assets from '../assets/assets.ts'
import type { NewVersionShape, VersionShape } from './schemas.ts'

/** A version as lists show it. */
export const presentVersion = (row: apps.Version): VersionShape => ({
  version: row.version,
  created: iso(row.created),
  bytes: row.htmlBytes,
  sha256: row.sha256,
  via: row.via,
  note: row.note,
})

/** The same on Explore: what a build was asked for is its maker's own text. */
export const presentShared = (row: apps.Version): VersionShape =>
  presentVersion(row.via === 'build' ? { ...row, note: '' } : row)

/** What a maker says of a version. Refuses bad_request. */
export function checkNote(note = ''): string {
  if (isPlainLine(note, versionNoteCharsMax) && !isForbidden(note)) return note
  const problem =
    `"note" is one plain line of at most ${versionNoteCharsMax} characters, without slurs and ` +
    'orders to agents.'
  throw new ApiError('bad_request', { problem, param: 'note' })
}

/**
 * Publishes the next version of an own app, with the assets of the last. Answers 201, or 200 for
 * a dry run that keeps nothing. An app on Explore whose new page may not be there stays there, and
 * is shown, with the version it had, and `note` says why. Refuses what publishing an app refuses,
 * not_found and taken_down.
 */
export async function publish(
  ctx: AppContext,
  maker: Agent,
  id: string,
  wanted: NewVersionShape & { html: string },
): Promise<Answer> {
  const looked = async () => {
    const app = await apps.theOwn(ctx, maker, id)
    const note = checkNote(wanted.note)
    const inspection = await pages.inspect(ctx, wanted.html, maker.id)
    return { app, note, inspection, scan: presentScan(inspection) }
  }
  if (wanted.dryRun) return { status: 200, body: { scan: (await looked()).scan, price: 0 } }
  return ctx.idempotency.once(maker.id, wanted.ref, { id, ...wanted }, async (keepAnswer) => {
    const { app, note, inspection, scan } = await looked()
    await apps.checkRoom(ctx, maker, inspection.identity.byteLength)
    const page = await pages.keep(ctx, inspection)
    return ctx.db.tx(async (db) => {
      const how = { via: 'html', note } as const
      const made = await add(ctx, db, app, { page, inspection, how })
      const body = {
        app: present(ctx, made.app),
        scan,
        note: shownNote(ctx, made),
      }
      await keepAnswer(db, { status: 201, body })
      return { status: 201, body }
    })
  })
}

interface Next {
  page: pages.KeptPage
  inspection: Inspection
  how: Pick<apps.Version, 'via' | 'note'>
  /** The version whose files it begins with, where that is not the last. */
  filesOf?: number
}

/** An app with its new version, and why that may not be on Explore where the app is. */
interface Made {
  app: apps.App
  reasons: string[]
}

/** The next version, inside a transaction. The one on Explore stays where the new one may not. */
export async function add(
  ctx: AppContext,
  db: Db,
  app: apps.App,
  { page, inspection, how, filesOf }: Next,
): Promise<Made> {
  const made = await apps.addVersion(ctx, db, app, page, how)
  const { id, version, listed } = made
  if (version > versionsPerAppMax) {
    const problem = `An app has at most ${versionsPerAppMax} versions. Publish a new app.`
    throw new ApiError('bad_request', { problem })
  }
  await assets.copy(db, { app: id, version: filesOf ?? version - 1 }, { app: id, version })
  if (listed === 'off') return { app: made, reasons: [] }
  const reasons = pages.unlistable(inspection)
  if (reasons.length > 0) return { app: made, reasons }
  return { app: await apps.update(ctx, db, made, { listed: 'on' }), reasons }
}

/** Which version visitors see now, and why where it is not the newest. */
function shownNote(ctx: AppContext, { app, reasons }: Made): string {
  const link = linkOf(ctx, app.id)
  if (reasons.length === 0) return `Version ${app.version} is live at ${link}.`
  const shown = apps.shownVersion(app)
  return (
    `Version ${app.version} is kept and not shown: Explore and ${link} stay with version ${shown}, ` +
    `because the new page cannot be on Explore: ${reasons.join(' ')} Mend it, or PATCH store false.`
  )
}

/**
 * Makes an older version the newest, with the files it had. Its page is looked at as a new one is:
 * it may have been taken down elsewhere, or be older than a rule. Refuses not_found, taken_down,
 * blocked_by_scan, and what `addVersion` refuses.
 */
export async function restore(
  ctx: AppContext,
  maker: Agent,
  id: string,
  number: number,
): Promise<{ app: apps.App; note: string }> {
  const app = await apps.theOwn(ctx, maker, id)
  const old = await apps.theVersion(ctx, id, number)
  const inspection = await pages.inspect(ctx, (await pages.read(ctx, old)).identity, maker.id)
  const { sha256, pack, htmlBytes, gzipBytes, brBytes, asks } = old
  const stored = { sha256, pack, htmlBytes, gzipBytes, brBytes, asks }
  const page = { ...stored, ...pages.scannedOf(ctx, inspection) }
  const how = { via: 'restore', note: `Version ${number} again.` } as const
  const next = { page, inspection, how, filesOf: number }
  const made = await ctx.db.tx((db) => add(ctx, db, app, next))
  const again = `Version ${made.app.version} is version ${number} again.`
  return { app: made.app, note: `${again} ${shownNote(ctx, made)}` }
}

/** The html of a version of an own app, the newest unless `number` is given. */
export async function htmlOf(
  ctx: AppContext,
  maker: Agent,
  id: string,
  number: number | undefined,
): Promise<Uint8Array> {
  const app = await apps.theOwn(ctx, maker, id)
  const version = await apps.theVersion(ctx, id, number ?? app.version)
  return (await pages.read(ctx, version)).identity
}
