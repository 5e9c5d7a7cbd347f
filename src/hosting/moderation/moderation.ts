import type { Db } from '../../db/engine.ts'
import type { House } from '../../house.ts'
import * as agents from '../agents/suspension.ts'
import type { App } from '../apps/apps.ts'
import { forgetBadPage, noteBadPage } from '../apps/bad-pages.ts'
import * as rows from '../apps/moderation.ts'
import { type News, tell } from '../notes/notes.ts'
import { answerAppeal } from './appeals.ts'
import { note } from './audit.ts'
import { putBack } from './holds.ts'
import { heldNews, restoredNews, takenDownNews } from './news.ts'
import { closeReports } from './reports.ts'

/** Who decides at the command line, where there is no name. */
const operator = 'operator'

/** A decision about an app: its own change, the record of it, and the reports it answers. */
async function decide(
  house: House,
  entry: { did: string; item: string; why: string; by: string },
  change: (db: Db) => Promise<App | undefined>,
  say: (app: App) => News,
): Promise<boolean> {
  return house.db.tx(async (db) => {
    const app = await change(db)
    if (!app) return false
    await closeReports(house, db, app.id)
    await note(house, db, entry)
    await tell(house, db, say(app))
    return true
  })
}

/**
 * Takes an app down: every operation on it answers 410, its link too, and its pages cannot come
 * back. False when there is no such app, or it is down already.
 */
export const takeDown = (house: House, id: string, why: string, by = operator): Promise<boolean> =>
  decide(
    house,
    { did: 'takedown', item: id, why, by },
    (db) => rows.takeDown(house, db, id, why),
    (app) => takenDownNews(app, why),
  )

/** Shows an app again, which grants what its maker appealed. */
const showAgain = (
  house: House,
  entry: Parameters<typeof decide>[1],
  change: (db: Db) => Promise<App | undefined>,
): Promise<boolean> =>
  decide(
    house,
    entry,
    async (db) => {
      const app = await change(db)
      if (app) await answerAppeal(house, db, app.id, { state: 'granted', answer: entry.why })
      return app
    },
    restoredNews,
  )

/** Undoes a takedown; the app is live again, off Explore. False when none was taken down. */
export const restore = (house: House, id: string, why: string, by = operator): Promise<boolean> =>
  showAgain(house, { did: 'restore', item: id, why, by }, (db) => putBack(house, db, id))

/** Holds an app back until it is released. False when there is none that is live. */
export const hold = (house: House, id: string, why: string, by = operator): Promise<boolean> =>
  decide(
    house,
    { did: 'hold', item: id, why, by },
    (db) => rows.hold(house, db, id, { by: 'operator', reason: why }),
    (app) => heldNews(app, why),
  )

/** Shows a held app again, on Explore too where it was there. False when it was not held. */
export const release = (house: House, id: string, why: string, by = operator): Promise<boolean> =>
  showAgain(house, { did: 'release', item: id, why, by }, (db) => rows.release(house, db, id))

/** Closes the reports about an app that is fine. False when there are none. */
export const dismiss = (house: House, id: string, why: string, by = operator): Promise<boolean> =>
  house.db.tx(async (db) => {
    if (!(await closeReports(house, db, id))) return false
    await note(house, db, { by, did: 'dismiss', item: id, why })
    return true
  })

/**
 * Suspends an agent: its keys stop working, and all it made is held back. Null lets it go on as
 * before. False when nobody has this handle, or it is so already.
 */
export async function suspend(
  house: House,
  handle: string,
  why: string | null,
  by = operator,
): Promise<boolean> {
  const done = await house.db.tx(async (db) => {
    const agent = await agents.suspend(house, db, handle, why)
    if (!agent) return false
    await rows.holdAllOf(house, db, agent.id, why)
    const did = why === null ? 'unsuspend' : 'suspend'
    await note(house, db, { by, did, item: `@${handle}`, why: why ?? '' })
    return true
  })
  house.keys.forget()
  return done
}

/** Blocks a page by its hash, wherever it is published or kept. False when it is so already. */
export const block = (house: House, sha256: string, why: string, by = operator): Promise<boolean> =>
  house.db.tx(async (db) => {
    const page = { sha256, app: '', reason: why, at: house.clock.now() }
    if (!(await noteBadPage(db, page))) return false
    await rows.readAgain(db, sha256)
    await note(house, db, { by, did: 'block', item: sha256, why })
    return true
  })

/** Lets a page come back that was blocked by its hash. False when none was. */
export const unblock = (
  house: House,
  sha256: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  house.db.tx(async (db) => {
    if (!(await forgetBadPage(db, sha256))) return false
    await rows.readAgain(db, sha256)
    await note(house, db, { by, did: 'unblock', item: sha256, why })
    return true
  })

/**
 * Has the safety check of now read an app again, or with 'all' every one that is there: the chore
 * that reads after new rules does it, in rounds. False when there is nothing to read.
 */
export const readAgain = (house: House, item: string, by = operator): Promise<boolean> =>
  house.db.tx(async (db) => {
    const some = await rows.askAgain(db, item === 'all' ? undefined : item)
    if (some) await note(house, db, { by, did: 'rescan', item, why: '' })
    return some
  })
