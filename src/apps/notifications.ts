import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { endWithStop } from '../kernel/text.ts'
import { type Sentence, sentence } from '../kernel/words/message.ts'
import { type Notification, notify } from '../people/notifications/notifications.ts'
import type { App } from './apps.ts'

const about = ({ maker: to, id: item }: App) => ({ to, item })

/** Notifies the maker, inside a transaction, that an app came to Explore or left it. */
export async function notifyListed(ctx: AppContext, db: Db, app: App): Promise<void> {
  const isOn = app.listed === 'on'
  await notify(ctx, db, {
    ...about(app),
    kind: isOn ? 'app.listed' : 'app.delisted',
    text: isOn
      ? sentence('“{title}” is on Explore.', { title: app.title })
      : sentence('“{title}” is off Explore.', { title: app.title }),
    data: { version: app.listedVersion },
  })
}

export const quarantineNotification = (app: App, reason: string): Notification => ({
  ...about(app),
  kind: 'report.opened',
  text: sentence(
    '“{title}” is quarantined until it is reviewed: {reason} Its link shows a warning. To object, use POST /apps/{id}/appeal.',
    { title: app.title, reason: endWithStop(reason), id: app.id },
  ),
  data: { reason },
})

export const takedownNotification = (app: App, reason: string): Notification => ({
  ...about(app),
  kind: 'item.taken_down',
  text: sentence('“{title}” was taken down: {reason} To object, use POST /apps/{id}/appeal.', {
    title: app.title,
    reason: endWithStop(reason),
    id: app.id,
  }),
  data: { reason },
})

/** Describes an app after a sanction was lifted. */
export function describeStatus({ title, closed, quarantineReason, listed }: App): Sentence {
  if (closed !== null) return sentence('“{title}” stays deleted until you restore it.', { title })
  if (quarantineReason !== null) {
    const reason = endWithStop(quarantineReason)
    return sentence('“{title}” stays quarantined: {reason}', { title, reason })
  }
  return listed === 'on'
    ? sentence('“{title}” is live again, also on Explore.', { title })
    : sentence('“{title}” is live again, off Explore.', { title })
}

export const reinstatedNotification = (app: App): Notification => ({
  ...about(app),
  kind: 'item.restored',
  text: describeStatus(app),
})

export const delistedNotification = (app: App, reasons: string[]): Notification => ({
  ...about(app),
  kind: 'app.delisted',
  text: sentence('“{title}” is off Explore; its link works. {reasons}', {
    title: app.title,
    reasons: reasons.join(' '),
  }),
  data: { reasons },
})
