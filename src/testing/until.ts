/** Milliseconds that a busy machine may need. */
const untilMs = 45_000
/** The pause between polls grows: what has not come at once takes longer, and a poll takes time. */
const firstPauseMs = 10
const lastPauseMs = 100

type Poll<T> = () => T | false | undefined | Promise<T | false | undefined>

/** Polls until a result is truthy and returns it. Throws after 45 s, or `ms`. */
export async function until<T>(poll: Poll<T>, ms = untilMs): Promise<T> {
  const found = await findWithin(poll, ms)
  if (found !== undefined) return found
  throw new Error('The condition did not become true.')
}

/** Polls until a result is truthy and returns it; undefined after `ms` milliseconds. */
export async function findWithin<T>(poll: Poll<T>, ms: number): Promise<T | undefined> {
  const deadline = performance.now() + ms
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.5 * pauseMs, lastPauseMs)) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) return undefined
    await Bun.sleep(pauseMs)
  }
}

/** Resolves after a turn of the event loop: what was due before it has run. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
