import { nano } from '../../core/money.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import type { Served } from './bill.ts'
import { billOf, boundsOf, type ChatOrder, sendingOf } from './order.ts'
import { readWhole } from './plain.ts'
import { reach } from './reach.ts'
import { throughSearch } from './search/through.ts'
import { withCost } from './told.ts'
import { deadlinesOf, Watch } from './watch.ts'

/** Serves a request in one answer. */
export async function serveWhole(order: ChatOrder, hold: Hold): Promise<Worked<Served>> {
  const { candidates, house, signal, heard } = order
  const watch = new Watch(signal, deadlinesOf(house.config))
  const bill = billOf(order, hold)
  try {
    const { by, served, verdict } = await reach(house.upstreams, candidates, {
      ...sendingOf(order),
      watch,
      through: throughSearch(order, watch),
      open: (answer, candidate) => readWhole(answer, boundsOf(order, candidate), watch),
    })
    if (verdict) return bill.failed(by, verdict)
    bill.began()
    const usage = served.carried.usage(true)
    const body = withCost(served.answer, usage, nano(bill.chargeOf(by, usage) + heard))
    return bill.answered(by, usage, 'completed', { status: 200, body })
  } finally {
    watch.end()
  }
}
