import { chatAt, type ServedGateway, serveGateway, serveLeast } from './gateway/served.ts'
import { countSyncs, syncMs } from './gateway/syncs.ts'
import { costUs, median, ratio, runLoad, type Target, type Turn } from './load/load.ts'
import type { BenchServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const p50 = (turns: Turn[]): number => median(turns.map((turn) => turn.p50))

/**
 * Measures a charged call: its added latency, its syncs, and the cost of one that is refused. The
 * minimal charging handler is measured in the same turns, and its result is shown beside.
 */
export async function bench(): Promise<BenchRow[]> {
  const gateway = await serveGateway()
  const { key } = await gateway.newAccount()
  const least = await serveLeast(gateway.upstream, key)
  const at = (one: BenchServer): Target => chatAt(one, key, false)
  const charging = [at(gateway.ctx), at(least)] as const
  const [ours] = charging
  const pass = at(gateway.pass)
  for (const target of [...charging, pass]) {
    await runLoad({ targets: [target], connections: 32, turnMs: 4_000, rounds: 1 })
  }
  const rows = [await added(gateway, charging, pass)]
  const { key: emptyKey } = await gateway.newEmptyAccount()
  rows.push(await benchRejection({ ...chatAt(gateway.ctx, emptyKey, false), status: 402 }, ours))
  for (const [callers, limit] of [
    [16, 0.5],
    [64, 0.25],
  ] as const) {
    const value = await syncsOf(ours, callers)
    const name = `disk syncs per charged call, ${callers} callers`
    if (value !== undefined) rows.push(atMost(name, value, limit, 'fdatasync'))
  }
  await least.stop()
  await gateway.stop()
  return rows
}

type Charging = readonly [ours: Target, least: Target]

const leastAt = (value: number, unit: string): string =>
  `minimal charging handler: ${value.toPrecision(3)} ${unit}`

/** A client without credits must not cost more than one that pays. */
async function benchRejection(target: Target, charged: Target): Promise<BenchRow> {
  const plan = { targets: [target, charged], connections: 32, turnMs: 600, rounds: 9 }
  const [errors = [], charges = []] = await runLoad(plan)
  const costs = `${costUs(errors).toFixed(0)} us of CPU vs. ${costUs(charges).toFixed(0)} us`
  const name = `call refused for its credits, vs. a charged call (${costs})`
  return atMost(name, 1 / ratio(errors, charges), 0.75)
}

/** One caller measures latency instead of queueing. */
async function added(
  { ctx, upstream }: ServedGateway,
  charging: Charging,
  pass: Target,
): Promise<BenchRow> {
  const targets = [...charging, pass, { ...pass, port: upstream.port, pid: upstream.pid }]
  const turns = await runLoad({ targets, connections: 1, turnMs: 300, rounds: 15 })
  const [ours = 0, least = 0, bare = 0, direct = 0] = turns.map(p50)
  const limit = 2 * (bare - direct) + 2.5 * syncMs(ctx.dataDir)
  const name = 'charged call, added p50, limit 2x the pass-through plus 2.5 fdatasync'
  return atMost(`${name} (${leastAt(least - direct, 'ms')})`, ours - direct, limit, 'ms')
}

async function syncsOf(target: Target, connections: number): Promise<number | undefined> {
  const plan = { targets: [target], connections, turnMs: 600, rounds: 3 }
  let responses = 0
  const syncs = await countSyncs(target.pid, async () => {
    const [turns = []] = await runLoad(plan)
    responses = turns.reduce((sum, turn) => sum + turn.responses, 0)
  })
  // The trace includes the warm-up round.
  return syncs === undefined ? undefined : (syncs / responses) * (plan.rounds / (plan.rounds + 1))
}
