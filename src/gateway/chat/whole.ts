import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import { boundsOf, Ledgered, type Order, sendingOf, type Served } from './account.ts'
import { readWhole } from './plain.ts'
import { reach } from './reach.ts'
import { throughSearch } from './search/through.ts'
import { withCost } from './told.ts'
import { deadlinesOf, Watch } from './watch.ts'

/** Serves a request in one answer. */
export async function serveWhole(order: Order, hold: Hold): Promise<Worked<Served>> {
  const { candidates, house, signal } = order
  const watch = new Watch(signal, deadlinesOf(house.config))
  const account = new Ledgered(order, hold)
  try {
    const { by, served, verdict } = await reach(house.upstreams, candidates, {
      ...{ ...sendingOf(order), watch, through: throughSearch(order, watch) },
      open: (answer, candidate) => readWhole(answer, boundsOf(order, candidate), watch),
    })
    if (verdict) return { ...account.failed(by, verdict), result: { refusal: verdict.refusal } }
    account.began()
    const usage = served.carried.usage(true)
    const body = withCost(served.answer, usage, account.costOf(by, usage))
    const answer = { status: 200, body }
    return { ...account.answered(by, usage, 'completed', answer), result: { answer } }
  } finally {
    watch.end()
  }
}
