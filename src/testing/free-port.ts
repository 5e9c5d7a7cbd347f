/** Ports below those that Linux gives to outgoing connections and to listeners on port 0. */
const portMin = 20_000
const portCount = 12_000
const triesMax = 100

/** Processes begin apart from each other. */
let next = (process.pid * 101) % portCount

/**
 * Returns a free port for a program that cannot choose one itself. No other process gets it by
 * chance before that program listens.
 */
export function freePort(): number {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = portMin + next
    next = (next + 1) % portCount
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch {
      // Another program listens there.
    }
  }
  throw new Error(`No port is free in ${triesMax} tries.`)
}
