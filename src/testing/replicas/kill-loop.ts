import { recordOf } from '../../core/schema.ts'
import { stopwatch } from '../../core/time.ts'
import { seeded } from '../fixtures/random.ts'
import { expect, type ServerProcess, textAt } from '../processes/server-process.ts'
import { type Replicas, startReplicas } from './replicas.ts'

const serversMax = 3
const workers = 4
const killMs = 2_000
/** All sessions of the database end this often, as with a restart of PostgreSQL. */
const cutMs = 9_000
const requestMs = 20_000

interface Acknowledged {
  apps: Map<string, string>
  calls: number
}

/** Counts of a run. */
export interface KillLoopResult {
  kills: number
  cuts: number
  apps: number
  calls: number
}

const pageOf = (ref: string): string => `<!doctype html><title>${ref}</title><h1>${ref}</h1>`

/** Sends a request under a key to one server after the other, until one has a final response. */
async function persist(r: Replicas, draw: () => number, request: (s: ServerProcess) => Request) {
  for (;;) {
    const server = r.servers[Math.floor(draw() * r.servers.length)]
    if (!server) throw new Error('No server.')
    const response = await fetch(request(server), {
      signal: AbortSignal.timeout(requestMs),
    }).catch(() => undefined)
    const isFinal = response && ![409, 429, 500, 503].includes(response.status)
    if (isFinal) return response
    await response?.body?.cancel()
    await Bun.sleep(20 + draw() * 80)
  }
}

const post = (origin: string, path: string, key: string, ref: string, body: object) =>
  new Request(origin + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': ref,
    },
    body: JSON.stringify(body),
  })

interface Worker {
  name: string
  key: string
  agent: string
}

const createWorker = async (r: Replicas, name: string): Promise<Worker> => ({
  name,
  key: await r.newGatewayKey(),
  agent: (await r.servers[0]?.newKey()) ?? '',
})

async function work(
  r: Replicas,
  draw: () => number,
  until: number,
  { name, key, agent }: Worker,
): Promise<Acknowledged> {
  const done: Acknowledged = { apps: new Map(), calls: 0 }
  for (let at = 0; stopwatch() < until; at += 1) {
    const ref = `${name}-${at}`
    if (draw() < 0.3) {
      const html = pageOf(ref)
      const made = await persist(r, draw, ({ origin }) =>
        post(origin, '/api/apps', agent, ref, { html }),
      )
      expect(made.status === 201, `publishing is ${made.status}: ${await made.clone().text()}`)
      done.apps.set(textAt(await made.json(), 'app.id'), html)
    } else {
      const messages = [{ role: 'user', content: ref }]
      const body = { model: 'fake/ok', max_tokens: 50, messages }
      const made = await persist(r, draw, ({ origin }) =>
        post(origin, '/v1/chat/completions', key, ref, body),
      )
      // 502: its server died during the call, which was charged once.
      expect([200, 502].includes(made.status), `a call is ${made.status}: ${await made.text()}`)
      done.calls += 1
    }
  }
  return done
}

/** Checks that every server has every acknowledged app. */
async function checkApps({ servers }: Replicas, { apps }: Acknowledged): Promise<void> {
  for (const [id, html] of apps) {
    for (const server of servers) {
      const page = await (await server.call('GET', `/a/${id}/data`)).text()
      expect(page === html, `the app ${id} is ${page.slice(0, 100)}`)
    }
  }
}

/** Checks that each call has one row of history, whatever died during it. */
async function checkHistory({ servers }: Replicas, { calls }: Acknowledged, key: string) {
  const history = await servers[0]?.call('GET', '/queries/history', key)
  const { total } = recordOf(await history?.json())
  expect(total === calls, `${calls} calls have ${String(total)} rows of history`)
}

async function disturb(r: Replicas, draw: () => number, until: number) {
  const counts = { kills: 0, cuts: 0 }
  let cutAt = stopwatch() + cutMs
  while (stopwatch() < until - killMs) {
    await Bun.sleep(killMs)
    if (stopwatch() > cutAt) {
      await r.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`
      counts.cuts += 1
      cutAt = stopwatch() + cutMs
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
 * Publishes and calls at random servers while one of them is killed every two seconds. No
 * acknowledged app may be lost, each call must have one row of history, and the ledger must
 * balance. Throws an Error that names the violation.
 */
export async function killReplicas(seconds: number, seed: number): Promise<KillLoopResult> {
  const draw = seeded(seed)
  const r = await startReplicas(serversMax)
  try {
    const names = Array.from({ length: workers }, (_, at) => `worker-${at}`)
    const all = await Promise.all(names.map((name) => createWorker(r, name)))
    const until = stopwatch() + seconds * 1_000
    const disturbed = disturb(r, draw, until)
    const done = await Promise.all(all.map((one) => work(r, draw, until, one)))
    const counts = await disturbed
    for (const one of done) await checkApps(r, one)
    for (const [at, one] of done.entries()) await checkHistory(r, one, all[at]?.key ?? '')
    const report = await r.command(['doctor'])
    expect(report.includes('sound'), report)
    const apps = done.reduce((sum, one) => sum + one.apps.size, 0)
    return { ...counts, apps, calls: done.reduce((sum, one) => sum + one.calls, 0) }
  } finally {
    await r.close()
  }
}
