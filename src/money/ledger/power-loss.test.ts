/**
 * A loss of power, simulated by copies of the files without bytes that were never synced. SQLite
 * syncs the whole log of a database with every durable commit, and none with a soft one
 * (src/kernel/db/sqlite.test.ts), so the log up to its length after the last durable commit is what
 * a disk is sure to have.
 */
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import { databaseFile, openEngine } from '../../kernel/db/open.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { systemClock } from '../../kernel/time.ts'
import { ann, fund, holdRequest, openTestLedger } from '../../testing/fixtures/ledger.ts'
import { doctor } from './doctor.ts'
import { expireOrphans } from './expiry.ts'
import { createHold, type Hold } from './holds.ts'
import { balanceOf, settleHold } from './ledger.ts'
import { listEntries } from './reports.ts'
import { endUnit, openUnit, type Unit } from './units.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-power-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const live = join(folder, 'live')
const log = join(live, `${databaseFile}-wal`)

/** Copies the files of the database with a part of its log. */
function copyWith(name: string, logBytes: number): string {
  const dataDir = join(folder, name)
  mkdirSync(dataDir)
  copyFileSync(join(live, databaseFile), join(dataDir, databaseFile))
  copyFileSync(log, join(dataDir, `${databaseFile}-wal`))
  truncateSync(join(dataDir, `${databaseFile}-wal`), logBytes)
  return dataDir
}

async function openBooks(dataDir: string) {
  const books = await openTestLedger(await openEngine({ dataDir }))
  books.clock.advance(systemClock.now() - books.clock.now())
  return books
}

test.skipIf(dialect === 'postgres')(
  'a loss of power keeps every acknowledged charge, and frees no credit twice',
  async () => {
    mkdirSync(live)
    const books = await openBooks(live)
    const { tx } = books.db
    let syncedBytes = 0
    const watched: Engine['tx'] = async (work, isSoft) => {
      const result = await tx(work, isSoft)
      if (!isSoft) syncedBytes = statSync(log).size
      return result
    }
    books.db = { ...books.db, tx: watched }
    await fund(books, ann, 10_000)
    const commit = (unit: Unit) => books.pendingSettlements.groups.commit(books, unit)
    const acknowledged: Hold[] = []
    let open: Hold[] = []
    for (let round = 0; round < 6; round += 1) {
      const settled = await Promise.all(
        open.map((hold) => commit(endUnit(hold, 'settled', credits(3)))),
      )
      acknowledged.push(...settled.map(({ hold }) => hold))
      const refs = Array.from({ length: 12 }, (_, at) => `${round}:${at}`)
      const terms = refs.map((ref, at) =>
        holdRequest(ref, 10, { onExpiry: at % 2 === 0 ? 'settle' : 'release' }),
      )
      const opened = await Promise.all(
        terms.map((request) => commit(openUnit(createHold(books.clock.now(), request), request))),
      )
      open = opened.map(({ hold }) => hold)
      const written = statSync(log).size
      expect(written).toBeGreaterThan(syncedBytes)
      const lengths = [0, 0.3, 0.6, 1].map((part) =>
        Math.floor(syncedBytes + part * (written - syncedBytes)),
      )
      for (const length of lengths) await checkCopy(`${round}-${length}`, length, acknowledged)
    }
    await books.db.close()
  },
  60_000,
)

/** Starts on what the disk has, as after a loss of power. */
async function checkCopy(name: string, logBytes: number, acknowledged: Hold[]): Promise<void> {
  const books = await openBooks(copyWith(name, logBytes))
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  const entries = await listEntries(books, ann, { limit: 1_000 })
  const refs = new Set(entries.map(({ ref }) => ref))
  expect(acknowledged.filter(({ ref }) => !refs.has(ref))).toEqual([])
  // The holds of this process are orphans of the next one.
  for (const hold of acknowledged) {
    await books.db.tx((db) => settleHold(books, db, hold, credits(10)))
  }
  books.clock.advance(3_600_000)
  const { settled } = await expireOrphans(books)
  const spent = credits(3 * acknowledged.length + 10 * settled)
  expect(await balanceOf(books, ann)).toMatchObject({
    held: zero,
    balance: credits(10_000) - spent,
  })
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
}
