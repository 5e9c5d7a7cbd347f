import { messageOf } from '../../../kernel/text.ts'
import { pollBitcoind, pollEsplora } from './bitcoin.ts'
import type { CoinContext } from './coins.ts'
import { pollEvm } from './evm-watcher.ts'
import { listWatched, planNext } from './invoices.ts'
import { invoicesPerPass, networksOf } from './method.ts'
import { listUnconfirmed, markReplaced, recordPayment } from './payments.ts'
import { pollSolana } from './solana.ts'
import type { PollInput, PollResult } from './status.ts'
import { finish, isIdle, isResting, takeLease } from './watchers.ts'

/** Runs one pass of every watcher that no other process runs. */
export async function watchCoins(ctx: CoinContext): Promise<void> {
  await Promise.all(networksOf(ctx.config).map((network) => watchNetwork(ctx, network)))
}

/** Runs one pass of the watcher of a network, unless it rests or another process has it. */
export async function watchNetwork(ctx: CoinContext, network: string): Promise<void> {
  const watcher = await takeLease(ctx, network)
  if (!watcher || isResting(ctx, watcher)) return
  const watched = await listWatched(ctx, network)
  if (watched.length === 0 && isIdle(ctx, watcher)) return
  try {
    const now = ctx.clock.now()
    const due = watched.filter(({ pollAt }) => pollAt <= now).slice(0, invoicesPerPass)
    const unconfirmed = await listUnconfirmed(ctx, network)
    const input = { cursor: watcher.cursor, watched, due, unconfirmed }
    const { observed, expected, cursor } = await poll(ctx, network, input)
    const recorded = new Set<string>()
    for (const payment of observed) recorded.add(await recordPayment(ctx, network, payment))
    const gone = expected.filter(({ id }) => !recorded.has(id))
    await markReplaced(ctx, gone)
    await planNext(ctx, due)
    await finish(ctx, watcher, { cursor, problem: null })
  } catch (error) {
    const problem = messageOf(error).slice(0, 500)
    if (watcher.problem === null) ctx.log.warn('topup_watcher_failed', { network, problem })
    await finish(ctx, watcher, { cursor: watcher.cursor, problem })
  }
}

function poll(ctx: CoinContext, network: string, input: PollInput): Promise<PollResult> {
  if (network.startsWith('eip155:')) return pollEvm(ctx, input)
  if (network.startsWith('solana:')) return pollSolana(ctx, input)
  return ctx.config.topupBtcRpcUrl === '' ? pollEsplora(ctx, input) : pollBitcoind(ctx, input)
}
