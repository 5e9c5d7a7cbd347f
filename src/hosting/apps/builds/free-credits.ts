import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { nano, type NanoUsd, zero } from '../../../core/money.ts'
import { utcDay } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import type { Job } from '../../../jobs/handler.ts'
import type { accountOf } from '../../../ledger/accounts.ts'
import { countFreeSpending, estimateFreePart, latestFreeDebit, correctFreeSpending } from '../../../ledger/free.ts'
import { BuildInput } from './job-data.ts'

type AccountId = ReturnType<typeof accountOf>

/**
 * Free credits cost the operator real money (docs/spec/money.md): what they are to pay of a price, counted on
 * this day. Undefined when all that they may pay today is spent.
 */
export async function takeFree(
  { clock, config }: AppContext,
  db: Db,
  account: AccountId,
  price: NanoUsd,
): Promise<NanoUsd | undefined> {
  const free = await estimateFreePart(db, account, price)
  if (free === zero) return zero
  const day = utcDay(clock.now())
  return (await countFreeSpending(db, day, free, config.freeSpendPerDayUsd)) ? free : undefined
}

/** Counts what free credits did pay, in the transaction that ends a build, after its charge. */
export async function endFree(db: Db, { input, created }: Job, paid: NanoUsd): Promise<void> {
  if (Value.Check(BuildInput, input)) {
    await correctFreeSpending(db, utcDay(created), nano(BigInt(input.free)), paid)
  }
}

/** What free credits paid of the charge that was just settled. */
export const freeOf = (db: Db, account: AccountId, charged: NanoUsd): Promise<NanoUsd> =>
  charged > zero ? latestFreeDebit(db, account) : Promise.resolve(zero)
