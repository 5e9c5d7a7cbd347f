import type { Db } from '../kernel/db/engine.ts'
import { endWithStop } from '../kernel/text.ts'
import { type Notification, notify } from '../people/notifications/notifications.ts'
import type { AppContext } from '../server/context.ts'
import type { App } from './apps.ts'

const about = ({ maker: to, id: item }: App) => ({ to, item })

/** Notifies the maker, inside a transaction, that an app came to Explore or left it. */
export async function notifyListed(ctx: AppContext, db: Db, app: App): Promise<void> {
  const isOn = app.listed === 'on'
  await notify(ctx, db, {
    ...about(app),
    kind: isOn ? 'app.listed' : 'app.delisted',
    text: `“${app.title}” is ${isOn ? 'on' : 'off'} Explore.`,
    data: { version: app.listedVersion },
  })
}

export const quarantineNotification = (app: App, reason: string): Notification => ({
  ...about(app),
  kind: 'report.opened',
  text:
    `"${app.title}" is quarantined until it is reviewed: ${endWithStop(reason)} Its link shows a ` +
    `warning. To object, use POST /apps/${app.id}/appeal.`,
  data: { reason },
})

export const takedownNotification = (app: App, reason: string): Notification => ({
  ...about(app),
  kind: 'item.taken_down',
  text:
    `"${app.title}" was taken down: ${endWithStop(reason)} To object, use ` +
    `POST /apps/${app.id}/appeal.`,
  data: { reason },
})

/** Describes an app after a sanction was lifted. */
export function describeStatus({ id, closed, quarantineReason, listed }: App): string {
  if (closed !== null) return `stays deleted: POST /apps/${id}/restore restores it`
  if (quarantineReason !== null) return `stays quarantined: ${quarantineReason}`
  return `is live again, ${listed === 'on' ? 'also on Explore' : 'off Explore'}`
}

export const reinstatedNotification = (app: App): Notification => ({
  ...about(app),
  kind: 'item.restored',
  text: endWithStop(`"${app.title}" ${describeStatus(app)}`),
})

export const delistedNotification = (app: App, reasons: string[]): Notification => ({
  ...about(app),
  kind: 'app.delisted',
  text: `"${app.title}" is off Explore; its link works. ${reasons.join(' ')}`,
  data: { reasons },
})
