import { stopwatch } from '../../kernel/time.ts'
import { seeded } from '../fixtures/random.ts'
import { checkClients, type Client, createClients, runJourneys } from './journeys.ts'
import { startSystem, type System } from './system.ts'

const serversMax = 3
const clientsMax = 4
const killMs = 2_000
/** PostgreSQL restarts this often, in turn in order and as after a crash. */
const restartMs = 9_000

/** Counts of a run. */
export interface KillLoopResult {
  kills: number
  restarts: number
  apps: number
  files: number
  calls: number
}

async function disturb({ r, postgres }: System, draw: () => number, until: number) {
  const counts = { kills: 0, restarts: 0 }
  let restartAt = stopwatch() + restartMs
  while (stopwatch() < until - killMs) {
    await Bun.sleep(killMs)
    if (stopwatch() > restartAt) {
      await postgres.restart(counts.restarts % 2 === 0 ? 'fast' : 'immediate')
      counts.restarts += 1
      restartAt = stopwatch() + restartMs
    }
    const index = Math.floor(draw() * serversMax)
    r.servers[index]?.kill('SIGKILL')
    await r.servers[index]?.exited
    await r.start(index)
    counts.kills += 1
  }
  return counts
}

/**
 * Runs the journeys of both APIs through nginx on servers with PostgreSQL and a bucket. One server
 * is killed every two seconds, and PostgreSQL is restarted every nine. Nothing acknowledged may be
 * lost, each call must have one row of history, the ledger must balance, and all files must be
 * there. Throws an Error that names the violation.
 */
export async function killReplicas(seconds: number, seed: number): Promise<KillLoopResult> {
  const draw = seeded(seed)
  const system = await startSystem(serversMax)
  const { r, front } = system
  try {
    const clients = await createClients(r, clientsMax)
    const until = stopwatch() + seconds * 1_000
    const [counts] = await Promise.all([
      disturb(system, draw, until),
      ...clients.map((client) => runJourneys(front, draw, client, until)),
    ])
    await checkClients(r, clients)
    const sum = (count: (client: Client) => number): number =>
      clients.reduce((total, client) => total + count(client), 0)
    return {
      ...counts,
      apps: sum(({ apps }) => apps.size),
      files: sum((client) => client.files.size),
      calls: sum(({ calls }) => calls),
    }
  } finally {
    await system.close()
  }
}
