import type { Job } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { type NanoUsd, toCredits, zero } from '../../kernel/money.ts'
import { agentAccount, agentOf, lockAccounts } from '../../money/ledger/accounts.ts'
import { notify } from '../../people/notifications/notifications.ts'
import { appUrl } from '../app-url.ts'
import type { App } from '../apps.ts'
import { deleteUnbuilt } from '../new-app.ts'
import { recountFreeBudget } from './settlement.ts'

interface FinishedBuild {
  app: App
  job: Job
  charged: NanoUsd
  /** Reasons that keep the new version off Explore. */
  reasons: string[]
  /** The browser of this server did not get to the page. */
  isUnchecked: boolean
}

const unchecked =
  ' It could not be checked in a browser, because this server was too busy. Open it to check it.'

export async function notifyBuilt(
  ctx: AppContext,
  db: Db,
  { app, job, charged, reasons, isUnchecked }: FinishedBuild,
) {
  const credits = toCredits(charged)
  const listing = app.listed === 'off' ? 'It is not on Explore' : 'Explore keeps the old version'
  const why = reasons.length === 0 ? '' : ` ${listing}: ${reasons.join(' ')}`
  await notify(ctx, db, {
    to: app.maker,
    kind: 'build.done',
    item: app.id,
    text: `“${app.title}” is built: version ${app.version}, ${appUrl(ctx, app.id)}.${why}${isUnchecked ? unchecked : ''}`,
    data: { job: job.id, version: app.version, credits },
  })
}

/** Deletes the app of an unfinished first build and notifies the maker. */
export async function discardBuild(ctx: AppContext, db: Db, job: Job) {
  const { id, item, owner, state, error } = job
  const agent = agentOf(owner) ?? ''
  // The holds end after this. The account is locked before the free budget, as elsewhere.
  await lockAccounts(db, [agentAccount(agent)])
  await recountFreeBudget(db, job, zero)
  if (state === 'failed') {
    await notify(ctx, db, {
      to: agent,
      kind: 'build.failed',
      ...(item !== null && { item }),
      text: error?.error ?? 'The build failed. Nothing was charged.',
      data: { job: id, code: error?.code ?? 'internal' },
    })
  }
  await deleteUnbuilt(db, item ?? '')
}
