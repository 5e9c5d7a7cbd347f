import { afterEach, beforeEach, expect, test } from 'bun:test'

import { freshEngine } from '../../../testing/fixtures/engine.ts'
import { openLog } from '../../log.ts'
import { day, systemClock } from '../../time.ts'
import { dialect } from '../columns.ts'
import type { Engine } from '../engine.ts'
import { Presence, thisProcess } from './presence.ts'
import { leases, replicas } from './tables.ts'

let db: Engine
let presence: Presence
beforeEach(async () => {
  db = await freshEngine()
  const log = openLog(systemClock, () => undefined)
  presence = new Presence({ db, log }, { folder: 'here', version: '1' })
})
afterEach(async () => {
  await presence.close()
  await db.close()
})

/** Shows a server that was last seen at a time. */
const show = (id: string, folder: string, seen: number) =>
  db.tx((tx) => tx.insert(replicas).values({ id, folder, version: '1', since: 0, seen }))
const ids = async (): Promise<string[]> =>
  (await db.read.select({ id: replicas.id }).from(replicas)).map(({ id }) => id).sort()

/** The clock of the database is that of this machine. A day is far from both sides of a lease. */
const later = (): number => systemClock.now() + day

if (dialect === 'postgres') {
  test('a server that reported itself without a gap removes those that did not', async () => {
    await show(thisProcess, 'here', later())
    await show('dead', 'elsewhere', 0)
    await show('living', 'nearby', later())
    await presence.start()
    expect(await ids()).toEqual(['living', thisProcess].sort())
  })

  test('a server that is new, or did not report itself, removes no others', async () => {
    await show('dead', 'elsewhere', 0)
    await presence.start()
    expect(await ids()).toEqual(['dead', thisProcess].sort())
    await presence.close()
    expect(await ids()).toEqual(['dead'])
    await show(thisProcess, 'here', 0)
    await presence.start()
    expect(await ids()).toEqual(['dead', thisProcess].sort())
  })

  test('a new process of a data folder replaces the earlier one', async () => {
    await show('before', 'here', later())
    await presence.start()
    expect(await ids()).toEqual([thisProcess])
  })

  test('one server leads until its lease ends', async () => {
    const lease = { name: 'leader', process: 'other' }
    await db.tx((tx) => tx.insert(leases).values({ ...lease, until: later() }))
    await presence.start()
    expect(presence.isLeader).toBe(false)
    await presence.close()
    await db.tx((tx) => tx.update(leases).set({ until: 0 }))
    await presence.start()
    expect(presence.isLeader).toBe(true)
    await presence.close()
    expect(presence.isLeader).toBe(false)
    expect(await db.read.select().from(leases)).toEqual([])
  })
}
