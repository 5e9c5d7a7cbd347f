/** Milliseconds that a busy machine may need. */
const untilMs = 45_000
const pollMs = 10

/** Polls until a result is truthy and returns it. Throws after 45 s, or `ms`. */
export async function until<T>(
  poll: () => T | false | undefined | Promise<T | false | undefined>,
  ms = untilMs,
): Promise<T> {
  const deadline = performance.now() + ms
  while (performance.now() < deadline) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    await Bun.sleep(pollMs)
  }
  throw new Error('The condition did not become true.')
}

/** Resolves after a turn of the event loop: what was due before it has run. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
