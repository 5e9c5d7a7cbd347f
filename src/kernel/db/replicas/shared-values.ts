import { eq } from 'drizzle-orm'

import type { Db, Engine } from '../engine.ts'
import { sharedValues } from './tables.ts'

/** Returns a value that all processes of a PostgreSQL database share. */
export async function readSharedValue(db: Db, name: string): Promise<string | undefined> {
  const [row] = await db
    .select({ value: sharedValues.value })
    .from(sharedValues)
    .where(eq(sharedValues.name, name))
  return row?.value
}

/** Stores a value unless there is one. Returns the stored value, the same for all processes. */
export async function shareFirst(db: Engine, name: string, value: string): Promise<string> {
  if (db.kind === 'sqlite') return value
  const known = await readSharedValue(db.read, name)
  if (known !== undefined) return known
  await db.tx((tx) => tx.insert(sharedValues).values({ name, value }).onConflictDoNothing())
  return (await readSharedValue(db.read, name)) ?? value
}

/** Replaces a value. Processes that read it at their start keep the old one. */
export async function setSharedValue(db: Engine, name: string, value: string): Promise<void> {
  const row = { name, value }
  await db.tx((tx) =>
    tx.insert(sharedValues).values(row).onConflictDoUpdate({ target: sharedValues.name, set: row }),
  )
}
