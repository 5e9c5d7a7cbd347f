import { eq, lt, sql } from 'drizzle-orm'

import { sign } from '../../core/ids.ts'
import { day, utcDay } from '../../core/time.ts'
import type { House } from '../../house.ts'
import { apps, opens } from './tables.ts'

/** Opens kept in memory between two writes; past this, more are not counted. */
const waitingMax = 10_000
const keptDays = 40

interface Open {
  app: string
  at: number
  address: string
}

const waiting = new WeakMap<House, Map<string, Open>>()

/**
 * Notes that an app was opened from an address. One open counts per app, day (UTC) and address,
 * which is kept only as a keyed hash. It is written with the next `writeOpens`.
 */
export function noteOpen(house: House, app: string, address: string): void {
  const noted = waiting.get(house) ?? new Map<string, Open>()
  waiting.set(house, noted)
  const name = `${app} ${address}`
  if (noted.size >= waitingMax || noted.has(name)) return
  noted.set(name, { app, at: house.clock.now(), address })
}

/** Writes the noted opens and counts the new ones, all in one transaction. */
export async function writeOpens(house: House): Promise<void> {
  const noted = waiting.get(house)
  if (!noted || noted.size === 0) return
  waiting.delete(house)
  await house.db.tx(async (db) => {
    for (const { app, at, address } of noted.values()) {
      const visitor = sign(house.secret, `open ${address}`).slice(0, 16)
      const open = { app, day: utcDay(at), visitor }
      const fresh = await db.insert(opens).values(open).onConflictDoNothing().returning()
      if (fresh.length === 0) continue
      await db
        .update(apps)
        .set({ opens: sql`${apps.opens} + 1` })
        .where(eq(apps.id, app))
    }
  })
}

/** Forgets who opened what after 40 days; the counts stay. */
export async function forgetOpens(house: House): Promise<void> {
  const before = utcDay(house.clock.now() - keptDays * day)
  await house.db.tx((db) => db.delete(opens).where(lt(opens.day, before)))
}
