/**
 * Spends ann's credits through withHold until it is killed: 16 payments at a time, and one that
 * never ends. Prints the ref of each completed payment.
 * `bun spender.ts DATA_DIR DATABASE_URL RUN`
 */
import { writeSync } from 'node:fs'

import { openEngine } from '../../kernel/db/open.ts'
import { randomBelow } from '../../kernel/ids.ts'
import { openLog } from '../../kernel/log.ts'
import { nano } from '../../kernel/money.ts'
import { systemClock } from '../../kernel/time.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { PendingSettlements } from '../../money/ledger/outcomes.ts'
import { withHold } from '../../money/ledger/paid-work.ts'
import { ben, holdRequest } from '../fixtures/ledger.ts'

const [dataDir = '', databaseUrl = '', run = ''] = Bun.argv.slice(2)
const db = await openEngine({ dataDir, ...(databaseUrl && { databaseUrl }) })
const books = {
  db,
  clock: systemClock,
  log: openLog(systemClock),
  pendingSettlements: new PendingSettlements(),
}
const paymentsMax = 2_000

async function spend(worker: number): Promise<void> {
  for (let payment = 0; payment < paymentsMax; payment++) {
    const ref = `${run}:${worker}:${payment}`
    const onExpiry = randomBelow(2) === 0 ? 'settle' : 'release'
    const shares = [{ account: accountOf(ben), percent: 80 }]
    await withHold(books, holdRequest(ref, 2, { onExpiry, shares }), async () => {
      await Bun.sleep(randomBelow(3))
      return { result: undefined, charge: nano(BigInt(randomBelow(2_000_000)) + 1n) }
    })
    writeSync(1, `${ref}\n`)
  }
}

const stuck = Promise.withResolvers<void>()
void withHold(books, holdRequest(`${run}:stuck`, 2), () => {
  stuck.resolve()
  return new Promise<never>(() => {})
})
await stuck.promise
await Promise.all(Array.from({ length: 16 }, (_, worker) => spend(worker)))
