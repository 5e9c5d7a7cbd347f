import { servePortkey } from './gateway/portkey.ts'
import { chatAt, type ServedGateway, serveGateway } from './gateway/served.ts'
import { countSyncs, syncMs } from './gateway/syncs.ts'
import { costUs, load, median, ratio, type Target, type Turn } from './load/load.ts'
import { atMost, type BenchRow } from './row.ts'

const p50 = (turns: Turn[]): number => median(turns.map((turn) => turn.p50))

/** A charged call: CPU beside a bare pass-through and beside Portkey, what it adds, its syncs. */
export async function bench(): Promise<BenchRow[]> {
  const gateway = await serveGateway()
  const portkey = await servePortkey()
  const { key } = await gateway.newAccount()
  const ours = chatAt(gateway.house, key, false)
  await load({ targets: [ours], connections: 32, turnMs: 4_000, rounds: 1 })
  const rows = [...(await costs(gateway, key)), await added(gateway, key)]
  if (portkey) rows.push(await besidePortkey(gateway, key, chatAt(portkey, key, false)))
  for (const [callers, limit] of [
    [16, 0.5],
    [64, 0.25],
  ] as const) {
    const value = await syncsOf(ours, callers)
    const name = `waits for the disk per charged call, ${callers} callers`
    if (value !== undefined) rows.push(atMost(name, value, limit, 'fdatasync'))
  }
  await portkey?.stop()
  await gateway.stop()
  return rows
}

async function costs({ house, pass }: ServedGateway, key: string): Promise<BenchRow[]> {
  const targets = [house, pass].map((one) => chatAt(one, key, false))
  const [ours = [], bare = []] = await load({ targets, connections: 32, turnMs: 300, rounds: 15 })
  const said = `${costUs(ours).toFixed(0)} us of CPU beside ${costUs(bare).toFixed(0)}`
  return [atMost(`charged call, of a bare pass-through (${said})`, 1 / ratio(ours, bare), 3)]
}

/** One caller, so that it is latency and not a queue that is measured. */
async function added({ house, pass, upstream }: ServedGateway, key: string): Promise<BenchRow> {
  const targets = [house, pass, upstream].map((one) => chatAt(one, key, false))
  const turns = await load({ targets, connections: 1, turnMs: 300, rounds: 15 })
  const [ours = 0, bare = 0, direct = 0] = turns.map(p50)
  const limit = 2 * (bare - direct) + 2.5 * syncMs(house.dataDir)
  const name = 'charged call, added p50, of 2x the pass-through and 2.5 fdatasync'
  return atMost(name, ours - direct, limit, 'ms')
}

async function besidePortkey({ house, upstream }: ServedGateway, key: string, bare: Target) {
  const headers = `x-portkey-provider: openai\r\nx-portkey-custom-host: http://127.0.0.1:${upstream.port}/v1\r\n`
  const peer = { ...bare, request: bare.request.replace('Host:', `${headers}Host:`) }
  const targets = [chatAt(house, key, false), peer]
  const [ours = [], theirs = []] = await load({ targets, connections: 32, turnMs: 600, rounds: 9 })
  const said = `${costUs(ours).toFixed(0)} us of CPU beside ${costUs(theirs).toFixed(0)}`
  return atMost(`charged call, of @portkey-ai/gateway (${said})`, 1 / ratio(ours, theirs), 0.1)
}

async function syncsOf(target: Target, connections: number): Promise<number | undefined> {
  const plan = { targets: [target], connections, turnMs: 600, rounds: 3 }
  let answers = 0
  const syncs = await countSyncs(target.pid, async () => {
    const [turns = []] = await load(plan)
    answers = turns.reduce((sum, turn) => sum + turn.answers, 0)
  })
  // The round that warms up is traced as well.
  return syncs === undefined ? undefined : (syncs / answers) * (plan.rounds / (plan.rounds + 1))
}
