import type { AppContext } from '../../../context.ts'
import { type NanoUsd, toCredits, zero } from '../../../core/money.ts'
import type { Db } from '../../../db/engine.ts'
import type { Job } from '../../../jobs/handler.ts'
import { agentAccount, agentOf, lockAccounts } from '../../../ledger/accounts.ts'
import type { App } from '../apps.ts'
import { dropBuilding } from '../new-app.ts'
import { appUrl } from '../present.ts'
import { notify } from '../../notifications/notifications.ts'
import { endFree } from './free-credits.ts'

interface Built {
  app: App
  job: Job
  charged: NanoUsd
  /** Why the new version is not on Explore. */
  reasons: string[]
}

/** Tells of a build that landed, in its transaction. */
export async function tellBuilt(ctx: AppContext, db: Db, { app, job, charged, reasons }: Built) {
  const credits = toCredits(charged)
  const shown = app.listed === 'off' ? 'It is not on Explore' : 'Explore keeps the old one'
  const why = reasons.length === 0 ? '' : ` ${shown}: ${reasons.join(' ')}`
  await notify(ctx, db, {
    to: app.maker,
    kind: 'build.done',
    item: app.id,
    text: `“${app.title}” is built: version ${app.version}, ${appUrl(ctx, app.id)}.${why}`,
    data: { job: job.id, version: app.version, credits },
  })
}

/** Undoes what stands for a build that did not land, and tells why, in the same transaction. */
export async function undone(ctx: AppContext, db: Db, job: Job) {
  const { id, item, owner, state, error } = job
  const agent = agentOf(owner) ?? ''
  // Its holds are ended after this: their account comes before what is free today, as elsewhere.
  await lockAccounts(db, [agentAccount(agent)])
  await endFree(db, job, zero)
  if (state === 'failed') {
    await notify(ctx, db, {
      to: agent,
      kind: 'build.failed',
      ...(item !== null && { item }),
      text: error?.error ?? 'The build failed. Nothing was charged.',
      data: { job: id, code: error?.code ?? 'internal' },
    })
  }
  await dropBuilding(db, item ?? '')
}
