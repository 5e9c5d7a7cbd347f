import { isPlainLine } from '../../core/text.ts'
import { iso } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import type { House } from '../../house.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import { versionsPerAppMax } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import type { Agent } from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import * as pages from '../apps/pages.ts'
import { linkOf, present } from '../apps/present.ts'
import { presentScan } from '../apps/publish.ts'
import * as assets from '../assets/assets.ts'
import type { NewVersionShape, VersionShape } from './shapes.ts'

/** A version as lists show it. */
export const presentVersion = (row: apps.Version): VersionShape => ({
  version: row.version,
  created: iso(row.created),
  bytes: row.htmlBytes,
  sha256: row.sha256,
  via: row.via,
  note: row.note,
})

/**
 * Publishes the next version of an own app, with the assets of the last. Answers 201, or 200 for
 * a dry run that keeps nothing. An app on Explore whose new page may not be listed comes off it,
 * and `note` says why. Refuses what publishing an app refuses, not_found and taken_down.
 */
export async function publish(
  house: House,
  maker: Agent,
  id: string,
  wanted: NewVersionShape,
): Promise<Answer> {
  const app = await apps.theOwn(house, maker, id)
  if ((wanted.html === undefined) === (wanted.prompt === undefined)) {
    throw new Refusal('bad_request', { problem: 'Send exactly one of "html" and "prompt".' })
  }
  const { note = '' } = wanted
  if (!isPlainLine(note, 200)) {
    throw new Refusal('bad_request', { problem: '"note" is one plain line.' })
  }
  if (wanted.html === undefined) throw new Refusal('no_builder')
  const inspection = await pages.inspect(house, wanted.html)
  const scan = presentScan(inspection)
  if (wanted.dryRun) return { status: 200, body: { scan, price: 0 } }
  const reasons = app.listed === 'on' ? pages.unlistable(inspection) : []
  return house.idempotency.once(maker.id, wanted.ref, { id, ...wanted }, async (keepAnswer) => {
    await apps.checkRoom(house, maker, inspection.identity.byteLength)
    const page = await pages.keep(house, inspection)
    return house.db.tx(async (db) => {
      const made = await add(house, db, app, page, { via: 'html', note })
      const listed =
        reasons.length > 0 ? await apps.update(house, db, made, { listed: 'off' }) : made
      const off = reasons.length > 0 ? ` It came off Explore: ${reasons.join(' ')}` : ''
      const body = {
        app: await present(house, listed),
        scan,
        note: `Version ${made.version} is live at ${linkOf(house, id)}.${off}`,
      }
      await keepAnswer(db, { status: 201, body })
      return { status: 201, body }
    })
  })
}

/** The next version, inside a transaction; its file table begins as the last version's. */
async function add(
  house: House,
  db: Db,
  app: apps.App,
  page: pages.KeptPage,
  how: Pick<apps.Version, 'via' | 'note'>,
  filesOf?: number,
): Promise<apps.App> {
  if (app.version >= versionsPerAppMax) {
    const problem = `An app has at most ${versionsPerAppMax} versions. Publish a new app.`
    throw new Refusal('bad_request', { problem })
  }
  const made = await apps.addVersion(house, db, app, page, how)
  await assets.copyToVersion(db, app.id, filesOf ?? made.version - 1, made.version)
  return made
}

/** Makes an older version the newest, with the files it had. Refuses not_found, taken_down. */
export async function restore(
  house: House,
  maker: Agent,
  id: string,
  number: number,
): Promise<{ app: apps.App; note: string }> {
  const app = await apps.theOwn(house, maker, id)
  const old = await apps.theVersion(house, id, number)
  const how = { via: 'restore', note: `Version ${number} again.` } as const
  const { sha256, pack, htmlBytes, gzipBytes, brBytes, asks } = old
  const page = { sha256, pack, htmlBytes, gzipBytes, brBytes, asks }
  const made = await house.db.tx((db) => add(house, db, app, page, how, number))
  return { app: made, note: `Version ${made.version} is version ${number} again.` }
}

/** The html of a version of an own app, the newest unless `number` is given. */
export async function htmlOf(
  house: House,
  maker: Agent,
  id: string,
  number: number | undefined,
): Promise<Uint8Array> {
  const app = await apps.theOwn(house, maker, id)
  const version = await apps.theVersion(house, id, number ?? app.version)
  return (await pages.read(house, version)).identity
}
