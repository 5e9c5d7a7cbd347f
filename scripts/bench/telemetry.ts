import { join } from 'node:path'

import { chatAt, serveGateway } from './gateway/served.ts'
import { costUs, ratio, runLoad } from './load/load.ts'
import { spawnServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

/** Measures the CPU that traces and metrics add to a charged call. */
export async function bench(): Promise<BenchRow[]> {
  const peer = join(import.meta.dir, 'peers/collector.ts')
  const collector = await spawnServer([process.execPath, peer])
  const endpoint = `http://127.0.0.1:${collector.port}`
  const gateways = [
    await serveGateway(2, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
    await serveGateway(2),
    await serveGateway(2, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
  ] as const
  const targets = await Promise.all(
    gateways.map(async (one) => chatAt(one.ctx, (await one.newAccount()).key, false)),
  )
  for (const target of targets) {
    await runLoad({ targets: [target], connections: 16, turnMs: 4_000, rounds: 1 })
  }
  const plan = { targets, connections: 16, turnMs: 600, rounds: 15 }
  const [traced = [], bare = [], dead = []] = await runLoad(plan)
  for (const one of gateways) await one.stop()
  await collector.stop()
  const costs = `${costUs(traced).toFixed(0)} us of CPU vs. ${costUs(bare).toFixed(0)} us`
  return [
    atMost(
      `charged call with traces and metrics, vs. without (${costs})`,
      1 / ratio(traced, bare),
      1.05,
    ),
    atMost('charged call with a collector that is down, vs. without', 1 / ratio(dead, bare), 1.03),
  ]
}
