import { recordOf } from '../../src/kernel/schema.ts'
import { stopwatch } from '../../src/kernel/time.ts'
import { rssKib } from '../../src/testing/processes/server-process.ts'
import { shareOfCore } from '../attack/attack.ts'
import { asRecord, type BerthServer, startBerthServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const pages = 3_000
/** Pages of one guest, as many as one may have. */
const pagesOfGuest = 8
const openedAtOnce = 100
const settleMs = 15_000
const idleMs = 20_000
const html = '<!doctype html><title>Board</title><script>service.db.collection("games")</script>'

/** Joins as a guest of a network of its own. Returns the headers of its pages. */
async function joinFrom({ port }: BerthServer, app: string, at: number) {
  const network = { 'x-forwarded-for': `10.${at >> 8}.${at & 255}.1` }
  const joined = await fetch(`http://localhost:${port}/api/apps/${app}/player`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...network },
    body: '{}',
  })
  if (!joined.ok) throw new Error(`Guest ${at} did not join: ${joined.status}.`)
  const cookie = joined.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return { cookie, ...network }
}

/** A page that watches a collection. */
interface Watcher {
  opened: Promise<void>
  /** Resolves with the first change. */
  changed: Promise<void>
  close(): void
}

function watch({ port }: BerthServer, app: string, headers: Record<string, string>): Watcher {
  const opened = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const socket = new WebSocket(`ws://localhost:${port}/api/apps/${app}/live`, { headers })
  const query = { collection: 'games' }
  let events = 0
  socket.onopen = () => socket.send(JSON.stringify({ type: 'watch', watch: 1, query }))
  socket.onmessage = ({ data }) => {
    if (recordOf(JSON.parse(String(data)))['type'] !== 'documents') return
    events += 1
    if (events === 1) opened.resolve()
    else changed.resolve()
  }
  socket.onclose = ({ code }) => opened.reject(new Error(`A page was closed with ${code}.`))
  return { opened: opened.promise, changed: changed.promise, close: () => socket.close() }
}

/** Measures what 3,000 pages that watch the documents of an app cost while nothing changes. */
export async function bench(): Promise<BenchRow[]> {
  const server = await startBerthServer(undefined, { TRUSTED_PROXIES: '127.0.0.1,::1' })
  const { key } = await server.call('POST', '/keys', { handle: 'watched' })
  const { app } = await server.call('POST', '/apps', { html }, String(key))
  const id = String(asRecord(app)['id'])
  const guests: Awaited<ReturnType<typeof joinFrom>>[] = []
  while (guests.length * pagesOfGuest < pages)
    guests.push(await joinFrom(server, id, guests.length))
  await Bun.sleep(settleMs)
  const idleKib = rssKib(server.pid)
  const idleShare = await shareOfCore(server, () => Bun.sleep(idleMs))
  const watchers: Watcher[] = []
  for (let at = 0; at < pages; at += openedAtOnce) {
    const some = Array.from({ length: Math.min(openedAtOnce, pages - at) }, (_, more) =>
      watch(server, id, guests[Math.floor((at + more) / pagesOfGuest)] ?? { cookie: '' }),
    )
    await Promise.all(some.map(({ opened }) => opened))
    watchers.push(...some)
  }
  await Bun.sleep(settleMs)
  const kib = (rssKib(server.pid) - idleKib) / pages
  const share = await shareOfCore(server, () => Bun.sleep(idleMs))
  const elapsed = stopwatch()
  const [first] = guests
  await fetch(`http://localhost:${server.port}/api/apps/${id}/documents`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...first },
    body: JSON.stringify({ path: 'games/1', data: { turn: 'x' } }),
  })
  await Promise.all(watchers.map(({ changed }) => changed))
  const reachedMs = stopwatch() - elapsed
  for (const watcher of watchers) watcher.close()
  await server.stop()
  const without = `${Math.max(0, 100 * idleShare).toFixed(2)} % without them`
  return [
    atMost(`3,000 pages that watch documents: of a core (${without})`, 100 * share, 2, '%'),
    atMost('3,000 pages that watch documents: memory of each', kib, 30, 'KiB'),
    atMost('a change reaches all 3,000 pages', reachedMs, 2_000, 'ms'),
  ]
}
