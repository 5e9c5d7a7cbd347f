import type { AppContext } from '../context.ts'
import { minute } from '../core/time.ts'
import { openMethods } from '../payments/coins/method.ts'

/** A state of the server that is reported to the operator. */
export interface Condition {
  name: 'errors' | 'latency' | 'disk' | 'files' | 'upstreams' | 'payments'
  isFiring: boolean
  /** The current value, as a sentence. */
  text: string
}

/** The span of the shares and percentiles. */
const spanMs = 5 * minute
/** Shares of fewer requests are not significant. */
const requestsMin = 20

/** Returns all conditions with their current state. */
export async function readConditions(ctx: AppContext): Promise<Condition[]> {
  return [
    ...trafficConditions(ctx),
    diskCondition(ctx),
    await filesCondition(ctx),
    upstreamCondition(ctx),
    await paymentCondition(ctx),
  ]
}

function trafficConditions({ config, state }: AppContext): Condition[] {
  const [stats] = state.observations.parts.history(spanMs, 1)
  const { count = 0, serverErrors = 0, p95 = 0 } = stats ?? {}
  const percent = (serverErrors / Math.max(1, count)) * 100
  const isEnough = count >= requestsMin
  const [share, slow] = [config.alertErrorPercent, config.alertP95Ms]
  return [
    {
      name: 'errors',
      isFiring: isEnough && share > 0 && percent >= share,
      text: `${percent.toFixed(1)} % of ${count} requests in five minutes were server errors.`,
    },
    {
      name: 'latency',
      isFiring: isEnough && slow > 0 && p95 >= slow,
      text: `The slowest 5 % of ${count} requests in five minutes took ${Math.round(p95)} ms or more.`,
    },
  ]
}

function diskCondition({ config, storage }: AppContext): Condition {
  const free = storage.free()
  const text = `${(free / 1e9).toFixed(1)} GB of disk space are free.`
  return { name: 'disk', isFiring: free < config.alertDiskFreeBytes, text }
}

async function filesCondition({ storage }: AppContext): Promise<Condition> {
  const problem = await storage.problem()
  const text = problem === undefined ? 'Files can be stored.' : `Files are unavailable: ${problem}.`
  return { name: 'files', isFiring: problem !== undefined, text }
}

function upstreamCondition({ upstreams }: AppContext): Condition {
  const paused = upstreams.health().filter(({ state }) => state === 'open')
  const names = paused.map(({ name }) => name).join(', ')
  const text = names === '' ? 'No upstream is paused.' : `Upstreams are paused: ${names}.`
  return { name: 'upstreams', isFiring: paused.length > 0, text }
}

/** Returns whether payments work: the watchers of chains, and the parts of settlements. */
async function paymentCondition(ctx: AppContext): Promise<Condition> {
  const hasCoins = openMethods(ctx.config).length > 0
  const { readWatchers } = await import('../payments/coins/watchers.ts')
  const watchers = hasCoins ? await readWatchers(ctx) : []
  const failing = watchers.filter(({ ok, problem }) => !ok && problem !== null)
  const settling = (await ctx.x402?.health()) ?? []
  const problems = [
    ...failing.map(({ network, problem }) => `${network}: ${problem}`),
    ...settling.flatMap(({ name, problem }) =>
      problem === undefined ? [] : `${name}: ${problem}`,
    ),
  ]
  const text =
    problems.length === 0 ? 'Payments work, or are off.' : problems.join('; ').slice(0, 500)
  return { name: 'payments', isFiring: problems.length > 0, text }
}
