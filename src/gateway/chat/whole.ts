import { nano } from '../../core/money.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import { readRecord } from '../paid/answer.ts'
import type { Served } from '../paid/bill.ts'
import { reach } from '../paid/reach.ts'
import { filtered, noContent, type Verdict } from '../paid/verdict.ts'
import { deadlinesOf, Watch } from '../paid/watch.ts'
import { type Bounds, Carried } from './carried.ts'
import { billOf, boundsOf, type ChatOrder, sendingOf } from './order.ts'
import { throughSearch } from './search/through.ts'
import { withCost } from './told.ts'

/** Serves a request in one answer. */
export async function serveWhole(order: ChatOrder, hold: Hold): Promise<Worked<Served>> {
  const { candidates, ctx, signal, heard } = order
  const watch = new Watch(signal, deadlinesOf(ctx.config))
  const bill = billOf(order, hold)
  try {
    const { by, served, verdict } = await reach(ctx.upstreams, candidates, {
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

/** A whole answer that can be handed on. */
interface Whole {
  answer: Record<string, unknown>
  carried: Carried
}

/** Reads an answer that is not a stream, bounded, and judges it ("What the ledger says"). */
async function readWhole(
  response: Response,
  bounds: Bounds,
  watch: Watch,
): Promise<Whole | Verdict> {
  const read = await readRecord(response, watch)
  if (!('answer' in read)) return read
  const { answer } = read
  const carried = new Carried(bounds)
  carried.read(answer)
  if (carried.isFiltered) return filtered
  return carried.hasContent ? { answer, carried } : noContent
}
