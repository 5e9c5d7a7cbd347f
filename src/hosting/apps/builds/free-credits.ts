import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { nano, type NanoUsd, zero } from '../../../core/money.ts'
import { utcDay } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import type { Job } from '../../../jobs/handler.ts'
import type { accountOf } from '../../../ledger/accounts.ts'
import {
  correctFreeSpending,
  countFreeSpending,
  estimateFreePart,
  latestFreeDebit,
} from '../../../ledger/free.ts'
import { BuildInputSchema } from './job-data.ts'

type AccountId = ReturnType<typeof accountOf>

/**
 * Reserves free credits for a price in their daily budget (docs/spec/money.md, "Kinds of credits").
 */
export async function reserveFreeBudget(
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

/** Corrects the daily budget by what free credits actually paid. */
export async function recountFreeBudget(
  db: Db,
  { input, created }: Job,
  paid: NanoUsd,
): Promise<void> {
  if (Value.Check(BuildInputSchema, input)) {
    await correctFreeSpending(db, utcDay(created), nano(BigInt(input.free)), paid)
  }
}

/** Returns the part of the last settled charge that free credits paid. */
export const findFreePart = (db: Db, account: AccountId, charged: NanoUsd): Promise<NanoUsd> =>
  charged > zero ? latestFreeDebit(db, account) : Promise.resolve(zero)
