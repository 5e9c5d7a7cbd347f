import { Value } from '@sinclair/typebox/value'

import { insertUse } from '../../gateway/models/history.ts'
import type { Usage } from '../../gateway/models/usage.ts'
import type { Job } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import type { accountOf } from '../../money/ledger/accounts.ts'
import * as freeCredits from '../../money/ledger/free.ts'
import { listOpenHolds, settleHold } from '../../money/ledger/ledger.ts'
import type { ServiceModel } from '../models/model-call.ts'
import { type BuildData, BuildInputSchema } from './job-data.ts'

type AccountId = ReturnType<typeof accountOf>
type Used = BuildData['used']

/** Reserves free credits in their daily budget (docs/spec/money.md, "Kinds of credits"). */
export async function reserveFreeBudget(
  { clock, config }: AppContext,
  db: Db,
  account: AccountId,
  price: NanoUsd,
): Promise<NanoUsd | undefined> {
  const free = await freeCredits.estimateFreePart(db, account, price)
  if (free === zero) return zero
  const day = utcDay(clock.now())
  const max = config.freeSpendPerDayUsd
  return (await freeCredits.countFreeSpending(db, day, free, max)) ? free : undefined
}

/** Corrects the daily budget by what free credits actually paid. */
export async function recountFreeBudget(db: Db, { input, created }: Job, paid: NanoUsd) {
  if (Value.Check(BuildInputSchema, input)) {
    await freeCredits.correctFreeSpending(db, utcDay(created), nano(BigInt(input.free)), paid)
  }
}

export const addUsage = (used: Used, call: Usage): Used => ({
  prompt: used.prompt + call.prompt,
  cached: used.cached + call.cached,
  completion: used.completion + call.completion,
  reasoning: used.reasoning + call.reasoning,
  estimated: used.estimated || call.estimated,
})

/** Settles the hold of a build and records its usage. `cost` is in nano-USD. Returns the charge. */
export async function settleBuild(
  ctx: AppContext,
  db: Db,
  job: Job,
  { by, used, cost }: { by: ServiceModel; used: Used; cost: bigint },
): Promise<NanoUsd> {
  const [open] = await listOpenHolds(db, job.id)
  if (!open) throw new Error(`the build ${job.id} has no open hold`)
  const { account, amount, charged } = await settleHold(ctx, db, open, nano(cost))
  const paid = charged > zero ? await freeCredits.latestFreeDebit(db, account) : zero
  await recountFreeBudget(db, job, paid)
  const now = ctx.clock.now()
  await insertUse(db, {
    account,
    requestId: job.id,
    at: now,
    model: by.model.id,
    type: 'chat',
    source: 'build',
    status: 'completed',
    upstream: by.upstream,
    price: by.price.id,
    input: used.prompt,
    cached: used.cached,
    output: used.completion,
    reasoning: used.reasoning,
    searches: 0,
    estimated: used.estimated,
    charged,
    held: amount,
    ms: now - job.created,
    firstByteMs: null,
  })
  return charged
}
