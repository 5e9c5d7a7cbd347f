import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Subprocess } from 'bun'

import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { systemClock } from '../../kernel/time.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { ann, ben, fund, openTestLedger, type TestLedger } from '../../testing/fixtures/ledger.ts'
import { startPostgres } from '../../testing/postgres.ts'
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
async function reopen(at = where): Promise<TestLedger> {
  const books = await openTestLedger(await openEngine(at))
  books.clock.advance(systemClock.now() - books.clock.now())
  return books
}

/** Fills the accounts that the child spends from and pays to. */
async function openAccounts(at = where): Promise<void> {
  const books = await reopen(at)
  await fund(books, ann, 1_000_000)
  await books.db.tx((db) => openOwnerAccount(books, db, ben))
  await books.db.close()
}

/** Runs `kill` after a number of payments of a child, and returns those that it confirmed. */
async function spend(
  run: string,
  payments: number,
  kill: (child: Subprocess) => unknown,
  { dataDir, databaseUrl } = where,
): Promise<string[]> {
  const program = join(import.meta.dir, '../../testing/processes/spender.ts')
  const child = Bun.spawn([process.execPath, program, dataDir, databaseUrl, run], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let received = ''
  let killing: unknown
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    received += decoder.decode(bytes)
    if (received.split('\n').length > payments) killing ??= kill(child) ?? 'killed'
  }
  await killing
  await child.exited
  return received.split('\n').slice(0, -1)
}

/** Opens the books as the next process does: every confirmed payment is there, and no hold. */
async function checkBooks(confirmed: string[], at = where): Promise<void> {
  expect(confirmed.length).toBeGreaterThanOrEqual(20)
  const books = await reopen(at)
  // Its PostgreSQL sessions end a moment after it.
  await until(async () => (await expireOrphans(books)).released >= 1)
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  const entries = await listEntries(books, ann, { limit: 1_000 })
  const refs = new Set(entries.map(({ ref }) => ref))
  expect(confirmed.filter((ref) => !refs.has(ref))).toEqual([])
  const spent = entries.reduce((sum, { amount }) => (amount < 0n ? sum - amount : sum), 0n)
  const after = await balanceOf(books, ann)
  expect(after).toMatchObject({ held: zero, balance: credits(1_000_000) - spent })
  await books.db.close()
}

test('kill -9 during paid work loses no confirmed payment and leaves no hold', async () => {
  await openAccounts()
  for (const [run, payments] of [
    ['first', 23],
    ['second', 41],
    ['third', 58],
  ] as const)
    await checkBooks(await spend(run, payments, (child) => child.kill('SIGKILL')))
}, 60_000)

// Its holds are commits that PostgreSQL has not written yet.
test.skipIf(dialect !== 'postgres')(
  'a crash of the database server loses no confirmed payment and leaves no hold',
  async () => {
    const { url, restartAfterCrash, stop } = await startPostgres()
    const at = { dataDir: folder, databaseUrl: url }
    await openAccounts(at)
    for (const [run, payments] of [
      ['first', 23],
      ['second', 58],
    ] as const) {
      const crash = async (child: Subprocess) => {
        await restartAfterCrash()
        child.kill('SIGKILL')
      }
      await checkBooks(await spend(run, payments, crash, at), at)
    }
    await stop()
  },
  60_000,
)
