import type { Job } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { type NanoUsd, toCredits, zero } from '../../kernel/money.ts'
import { sentence } from '../../kernel/words/message.ts'
import { agentAccount, agentOf, lockAccounts } from '../../money/ledger/accounts.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { App } from '../apps.ts'
import { appUrl } from '../kinds.ts'
import { deleteUnbuilt } from '../new-app.ts'
import { recountFreeBudget } from './free-credits.ts'

interface FinishedBuild {
  app: App
  job: Job
  charged: NanoUsd
  /** Reasons that keep the new version off Explore. */
  reasons: string[]
  /** The browser of this server did not get to the page. */
  isUnchecked: boolean
}

const unchecked = sentence(
  'It could not be checked in a browser, because this server was too busy. Open it to check it.',
)

export async function notifyBuilt(
  ctx: AppContext,
  db: Db,
  { app, job, charged, reasons, isUnchecked }: FinishedBuild,
) {
  const credits = toCredits(charged)
  const { title, version } = app
  const built = { title, version, url: appUrl(ctx, app.id) }
  const why = { reasons: reasons.join(' ') }
  const unlisted =
    app.listed === 'off'
      ? sentence('It is not on Explore: {reasons}', why)
      : sentence('Explore keeps the old version: {reasons}', why)
  await notify(ctx, db, {
    to: app.maker,
    kind: 'build.done',
    item: app.id,
    text: [
      sentence('“{title}” is built: version {version}, {url}.', built),
      ...(reasons.length > 0 ? [unlisted] : []),
      ...(isUnchecked ? [unchecked] : []),
    ],
    data: { job: job.id, version, credits },
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
      text: error
        ? { message: error.error, values: {} }
        : sentence('The build failed. Nothing was charged.'),
      data: { job: id, code: error?.code ?? 'internal' },
    })
  }
  await deleteUnbuilt(db, item ?? '')
}
