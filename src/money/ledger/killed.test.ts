import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { systemClock } from '../../kernel/time.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { ann, ben, fund, openTestLedger, type TestLedger } from '../../testing/fixtures/ledger.ts'
import { until } from '../../testing/until.ts'
import { doctor } from './doctor.ts'
import { expireOrphans } from './expiry.ts'
import { balanceOf, openOwnerAccount } from './ledger.ts'
import { listEntries } from './reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-killed-'))
const where = { dataDir: folder, databaseUrl: '' }
if (dialect === 'postgres') where.databaseUrl = await createDatabase()
afterAll(async () => {
  if (where.databaseUrl) await dropDatabase(where.databaseUrl)
  rmSync(folder, { recursive: true, force: true })
})

/** Opens the database as the next process does, long before any deadline. */
async function reopen(): Promise<TestLedger> {
  const books = await openTestLedger(await openEngine(where))
  books.clock.advance(systemClock.now() - books.clock.now())
  return books
}

/** Kills a spending child after a number of payments and returns those that it confirmed. */
async function spendAndDie(run: string, payments: number): Promise<string[]> {
  const program = join(import.meta.dir, '../../testing/processes/spender.ts')
  const child = Bun.spawn([process.execPath, program, where.dataDir, where.databaseUrl, run], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let received = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    received += decoder.decode(bytes)
    if (received.split('\n').length > payments) child.kill('SIGKILL')
  }
  await child.exited
  return received.split('\n').slice(0, -1)
}

test('kill -9 during paid work loses no confirmed payment and leaves no hold', async () => {
  let books = await reopen()
  await fund(books, ann, 1_000_000)
  await books.db.tx((db) => openOwnerAccount(books, db, ben))
  await books.db.close()
  let spent = 0n
  for (const [run, payments] of [
    ['first', 23],
    ['second', 41],
    ['third', 58],
  ] as const) {
    const answered = await spendAndDie(run, payments)
    expect(answered.length).toBeGreaterThanOrEqual(20)
    books = await reopen()
    // Its PostgreSQL sessions end a moment after it.
    await until(async () => (await expireOrphans(books)).released >= 1)
    expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
    const entries = await listEntries(books, ann, { limit: 500 })
    const refs = new Set(entries.map(({ ref }) => ref))
    expect(answered.filter((ref) => !refs.has(ref))).toEqual([])
    spent = entries.reduce((sum, { amount }) => (amount < 0n ? sum - amount : sum), 0n)
    const after = await balanceOf(books, ann)
    expect(after).toMatchObject({ held: zero, balance: credits(1_000_000) - spent })
    await books.db.close()
  }
}, 60_000)
