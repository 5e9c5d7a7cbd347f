import type { Engine } from '../db/engine.ts'
import { addCalls } from '../db/replicas/windows.ts'
import { RateLimit } from '../rate-limit.ts'
import { type Clock } from '../time.ts'
import type { createLimits } from './limits.ts'

/** Keys of one statement. The others wait for the next time. */
const keysMax = 500

/**
 * Shares the calls that this process has counted with the other processes of a PostgreSQL database,
 * and reads theirs. It runs twice a second as maintenance, so no request waits for it, and each
 * process lets at most the calls of half a second pass that others would have rejected.
 */
export async function shareLimits({
  db,
  clock,
  state: { limits },
}: {
  db: Engine
  clock: Clock
  state: { limits: ReturnType<typeof createLimits> }
}): Promise<void> {
  if (db.kind === 'sqlite') return
  for (const [name, limit] of Object.entries(limits)) {
    if (limit instanceof RateLimit) await shareOne({ db, clock }, name, limit)
  }
}

async function shareOne(
  { db, clock }: { db: Engine; clock: Clock },
  limitName: string,
  limit: RateLimit,
): Promise<void> {
  const unshared = [...limit.takeUnshared()]
  const [now, later] = [unshared.slice(0, keysMax), unshared.slice(keysMax)]
  for (const [key, calls] of later) limit.share(key, calls)
  if (now.length === 0) return
  const { windowMs } = limit
  const at = clock.now()
  const nameOf = (key: string): string => `${limitName} ${key}`
  const keys = new Map(now.map(([key]) => [nameOf(key), key]))
  const added = now.map(([key, calls]) => ({ name: nameOf(key), calls, windowMs, at }))
  try {
    const windows = await db.tx((tx) => addCalls(tx, added))
    for (const { name, ...window } of windows) limit.merge(keys.get(name) ?? '', window)
  } catch (error) {
    for (const [key, calls] of now) limit.share(key, calls)
    throw error
  }
}
