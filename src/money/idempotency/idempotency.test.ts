import { expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { replicas } from '../../kernel/db/replicas/tables.ts'
import { systemClock } from '../../kernel/time.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import { Claims } from './idempotency.ts'
import { storedResponses } from './tables.ts'

if (dialect === 'postgres')
  test('a claim ends with its process, whose holds end before it is taken over', async () => {
    const db = await freshEngine()
    const claims = new Claims(db, systemClock)
    let takeovers = 0
    claims.beforeTakeover = async () => (takeovers += 1)
    const name = { owner: 'ann', ref: 'r' }
    await db.tx(async (tx) => {
      const claim = { ...name, status: 0, request: '', body: '', at: 0, process: 'other' }
      await tx.insert(storedResponses).values(claim)
      const other = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: 0 }
      await tx.insert(replicas).values(other)
    })
    expect([await claims.take(name), takeovers]).toEqual([false, 0])
    await db.tx((tx) => tx.delete(replicas))
    expect([await claims.take(name), takeovers]).toEqual([true, 1])
    await claims.release(name)
    expect(await db.read.select().from(storedResponses)).toEqual([])
    await db.close()
  })
