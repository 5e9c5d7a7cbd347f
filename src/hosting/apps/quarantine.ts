import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import type { Agent } from '../agents/agents.ts'
import type { App } from './apps.ts'
import { showsBlockedPage } from './blocked-pages.ts'
import * as rows from './moderation.ts'
import * as removal from './deletion.ts'
import { notify } from '../notifications/notifications.ts'
import { recordAudit } from '../audit/audit.ts'
import { heldNews } from './notifications.ts'

/**
 * Holds an app back for what the safety check found, inside a transaction: it is written down, and
 * its maker is told. Undefined when it is held already.
 */
export async function quarantineForFindings(
  ctx: AppContext,
  db: Db,
  item: string,
  codes: string[],
): Promise<App | undefined> {
  const why = `the safety check found ${[...new Set(codes)].join(', ')}`
  const held = await rows.quarantine(ctx, db, item, { by: 'scan', reason: why })
  if (!held) return undefined
  await recordAudit(ctx, db, { by: 'scan', did: 'hold', item, why })
  await notify(ctx, db, heldNews(held, why))
  return held
}

/** What comes back with a page that was blocked meanwhile is not shown until it is read again. */
async function holdBlocked(ctx: AppContext, db: Db, id: string): Promise<App | undefined> {
  return (await showsBlockedPage(db, id)) ? quarantineForFindings(ctx, db, id, ['known.bad']) : undefined
}

/**
 * Brings back an own app deleted less than 30 days ago, held back where its page was blocked
 * meanwhile. Refuses not_found, taken_down, account_closed.
 */
export const restoreDeletedApp = (ctx: AppContext, maker: Agent, id: string): Promise<App> =>
  removal.restoreDeleted(ctx, maker, id, (db) => holdBlocked(ctx, db, id))

/**
 * Undoes a takedown, inside a transaction; the app is held back where its page is blocked besides.
 * The app as it then is; undefined when none was taken down.
 */
export async function reinstateApp(ctx: AppContext, db: Db, id: string): Promise<App | undefined> {
  const app = await rows.reinstate(ctx, db, id)
  return app && ((await holdBlocked(ctx, db, id)) ?? app)
}
