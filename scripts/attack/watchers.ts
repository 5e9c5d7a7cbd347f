import { callsTo, noLimits } from '../bench/load/served.ts'
import { type AttackRow, getFrom, inMs, measureVictim, shareOfCore, withServer } from './attack.ts'

/** As many as an agent may have (src/kernel/limits.ts). */
const streamsPerAgent = 8
const opensAtOnce = 50
/** A server that has just started compiles for this time. */
const warmMs = 30_000
/** Characters of a key that name it in paths. */
const prefixChars = 11

/** Watchers that are not woken until then are counted as asleep. */
const wakeMsMax = 60_000

interface Stream {
  /** Resolves with the first bytes after the head. */
  events: Promise<void>
  close(): void
}

function openStream(port: number, key: string): Promise<Stream> {
  const opened = Promise.withResolvers<Stream>()
  const events = Promise.withResolvers<void>()
  let text = ''
  const stream = (socket: Bun.Socket): Stream => ({
    events: events.promise,
    close: () => void socket.end(),
  })
  void Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (socket) =>
        void socket.write(
          `GET /api/me/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        ),
      data: (socket, bytes) => {
        if (text.length < 4_000) text += bytes.toString('latin1')
        if (text.includes(': notes')) opened.resolve(stream(socket))
        if (text.includes('data: {')) events.resolve()
      },
      error: (_, error) => opened.reject(error),
      close: () => opened.reject(new Error(`closed: ${text.slice(0, 200)}`)),
    },
  }).catch(opened.reject)
  return opened.promise
}

/** Idle watchers of notes, a client that reads, and then one note. */
export const run = (watchers = 10_000, ms = 70_000): Promise<AttackRow> =>
  withServer(async (server) => {
    const api = callsTo(server.port)
    const streams: Stream[] = []
    let key = ''
    while (streams.length < watchers) {
      const keys: string[] = []
      for (let at = 0; at * streamsPerAgent < opensAtOnce; at += 1) {
        keys.push(String((await api('POST', '/keys', {})).key))
      }
      key = keys.at(-1) ?? ''
      const all = keys.flatMap((one) => Array<string>(streamsPerAgent).fill(one))
      streams.push(...(await Promise.all(all.map((one) => openStream(server.port, one)))))
    }
    const share = await shareOfCore(server, () => Bun.sleep(ms))
    const send = getFrom(server, '/api/on', '198.51.100.7')
    const victim = await measureVictim(send, { ms: Math.min(5_000, ms), everyMs: 100 })
    const { key: second } = await api('POST', '/me/keys', {}, key)
    const startedAt = performance.now()
    await api('DELETE', `/me/keys/${String(second).slice(0, prefixChars)}`, undefined, key)
    const own = streams.slice(-streamsPerAgent).map(({ events }) => events)
    const late = Bun.sleep(wakeMsMax).then(() => false)
    const isWoken = await Promise.race([Promise.all(own).then(() => true), late])
    const wokenMs = performance.now() - startedAt
    for (const stream of streams) stream.close()
    const percent = `${(share * 100).toFixed(2)} %`
    return {
      name: `7. ${streams.length.toLocaleString('en')} idle watchers of notes`,
      measured: `${percent} of a core for the server; another client p95 ${inMs(victim.p95)}; a note arrives after ${inMs(wokenMs)}`,
      bound: 'at most 2 % of a core for 10,000; a note within 500 ms',
      isKept: share <= (ms < warmMs ? 0.1 : 0.02) && wokenMs < 500,
      isLimited: isWoken,
    }
  }, noLimits)
