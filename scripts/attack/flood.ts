/**
 * The attacker, in a process of its own: reads a `Flood` as JSON from stdin, sends its requests at
 * a fixed rate to a server of this machine, and prints the number of responses by status.
 */
import type { Flood } from './attack.ts'

const flood: Flood = JSON.parse(await Bun.stdin.text())
const { port, path, method, headers, body, perSecond, ms } = flood
/** Requests without a response. Past this many the attacker waits, so that the run is bounded. */
const openMax = 200

const counts: Record<string, number> = {}
const open = new Set<Promise<void>>()
const startedAt = performance.now()

async function send(): Promise<void> {
  try {
    const request = { method, headers, ...(body !== undefined && { body }) }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
    await response.bytes()
    counts[response.status] = (counts[response.status] ?? 0) + 1
  } catch {
    counts['failed'] = (counts['failed'] ?? 0) + 1
  }
}

for (let sent = 0; performance.now() - startedAt < ms; sent += 1) {
  const due = startedAt + (sent * 1_000) / perSecond
  const wait = due - performance.now()
  if (wait > 0) await Bun.sleep(wait)
  if (open.size >= openMax) await Promise.race(open)
  const sending = send().finally(() => void open.delete(sending))
  open.add(sending)
}
await Promise.all(open)
console.log(JSON.stringify(counts))
