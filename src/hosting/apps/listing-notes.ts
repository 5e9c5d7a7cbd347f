import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { notify } from '../notifications/notifications.ts'
import type { App } from './apps.ts'

/** Tells a maker that an app came to Explore, or left it, in the transaction of that. */
export async function tellListed(ctx: AppContext, db: Db, app: App): Promise<void> {
  const isOn = app.listed === 'on'
  await notify(ctx, db, {
    to: app.maker,
    item: app.id,
    kind: isOn ? 'app.listed' : 'app.delisted',
    text: isOn ? `“${app.title}” is on Explore.` : `“${app.title}” is off Explore.`,
    data: { version: app.listedVersion },
  })
}
