import { sentence } from '../../core/text.ts'
import type { App } from './apps.ts'
import type { Notification } from '../notifications/notifications.ts'

const about = ({ maker: to, id: item }: App, kind: Notification['kind'], text: string): Notification => ({
  to,
  kind,
  item,
  text,
})

/** What a maker is told of an app that is held back. */
export const heldNews = (app: App, reason: string): Notification => ({
  ...about(
    app,
    'report.opened',
    `"${app.title}" is held back until somebody has looked at it: ${sentence(reason)} Its link ` +
      `shows a warning. POST /apps/${app.id}/appeal says why it is fine.`,
  ),
  data: { reason },
})

/** Of an app that was taken down. */
export const takenDownNews = (app: App, reason: string): Notification => ({
  ...about(
    app,
    'item.taken_down',
    `"${app.title}" was taken down: ${sentence(reason)} POST /apps/${app.id}/appeal asks for another look.`,
  ),
  data: { reason },
})

/** How an app stands once what was decided against it is undone. */
export function standing({ id, closed, heldFor, listed }: App): string {
  if (closed !== null) return `stays deleted: POST /apps/${id}/restore brings it back`
  if (heldFor !== null) return `stays held back: ${heldFor}`
  return `is live again, ${listed === 'on' ? 'on Explore too' : 'off Explore'}`
}

/** Of an app that is shown again, unless something else keeps it from that. */
export const restoredNews = (app: App): Notification =>
  about(app, 'item.restored', sentence(`"${app.title}" ${standing(app)}`))

/** Of an app that a newer rule of the scan took off Explore. */
export const delistedNews = (app: App, reasons: string[]): Notification => ({
  ...about(
    app,
    'app.delisted',
    `"${app.title}" is off Explore; its link works. ${reasons.join(' ')}`,
  ),
  data: { reasons },
})
