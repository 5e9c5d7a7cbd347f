/**
 * Measures hold and settle (key, cap, two entries) with synchronous=FULL against the same
 * statements written by hand for bun:sqlite with 64 charges in a commit. Counts the disk syncs of
 * a charge.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openEngine } from '../../src/kernel/db/open.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openLog } from '../../src/kernel/log.ts'
import { fromCredits, nano } from '../../src/kernel/money.ts'
import { stopwatch, systemClock } from '../../src/kernel/time.ts'
import { accountOf } from '../../src/money/ledger/accounts.ts'
import { grantTo } from '../../src/money/ledger/ledger.ts'
import { PendingSettlements } from '../../src/money/ledger/outcomes.ts'
import { withHold } from '../../src/money/ledger/paid-work.ts'
import { openRaw } from './ledger/raw.ts'
import { median } from './load/load.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'

const callers = 64
const chargesPerRound = 2_560
const rounds = 7
const amount = fromCredits(2)
const charge = nano(1_234_567n)
const owners = Array.from(
  { length: callers },
  (_, n) => ({ kind: 'agent', owner: `a${n}` }) as const,
)

async function openBooks(dataDir: string) {
  const db = await openEngine({ dataDir })
  const books = {
    db,
    clock: systemClock,
    log: openLog(systemClock),
    pendingSettlements: new PendingSettlements(),
  }
  const funds = { amount: fromCredits(1_000_000), kind: 'grant', free: false }
  for (const owner of owners) await grantTo(books, owner, { ...funds, ref: `g:${owner.owner}` })
  return books
}

type Books = Awaited<ReturnType<typeof openBooks>>

/** Makes `total` charges through the ledger from `inFlight` callers. Returns charges per second. */
async function ours(books: Books, inFlight: number, total: number): Promise<number> {
  const since = stopwatch()
  await Promise.all(
    owners.slice(0, inFlight).map(async (owner) => {
      const cap = { key: owner.owner, max: null }
      const ask = { account: accountOf(owner), amount, kind: 'chat', ms: 60_000, cap }
      for (let n = 0; n < total / inFlight; n++) {
        await withHold(books, { ...ask, ref: newId() }, async () => ({ result: 0, charge }))
      }
    }),
  )
  return (total / (stopwatch() - since)) * 1_000
}

/**
 * Counts the disk syncs of a child that makes `charges` charges. Returns undefined without strace.
 */
async function syncs(inFlight: number, charges: number): Promise<number | undefined> {
  if (!Bun.which('strace')) return undefined
  const child = [process.execPath, import.meta.path, String(inFlight), String(charges)]
  const trace = Bun.spawn(['strace', '-f', '-qq', '-e', 'trace=fsync,fdatasync', ...child], {
    stderr: 'pipe',
  })
  const output = await new Response(trace.stderr).text()
  if ((await trace.exited) !== 0) throw new Error(output.slice(-500))
  return output.match(/(?<!\.\.\. )f(data)?sync(\(| )/g)?.length ?? 0
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function againstRaw(folder: string): Promise<BenchRow> {
  const [books, other] = [await openBooks(join(folder, 'a')), await openBooks(join(folder, 'b'))]
  await ours(other, 1, 1)
  await other.db.close()
  const raw = openRaw(join(folder, 'b', 'berth.sqlite'), owners, { amount, charge })
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const peer = raw(chargesPerRound)
    ratios.push((await ours(books, callers, chargesPerRound)) / peer)
  }
  await books.db.close()
  const name = 'hold + settle, 64 in flight, vs. raw grouped prepared statements'
  return atLeast(name, median(ratios), 0.5)
}

export async function bench(): Promise<BenchRow[]> {
  const rows = [await inFolder(againstRaw)]
  for (const [inFlight, limit] of [
    [1, 2.1],
    [16, 0.5],
    [64, 0.25],
  ] as const) {
    const [none, all] = [await syncs(inFlight, 0), await syncs(inFlight, 640)]
    if (none === undefined || all === undefined) continue
    const name = `disk syncs per charge, ${inFlight} in flight`
    rows.push(atMost(name, (all - none) / 640, limit, 'fdatasync'))
  }
  return rows
}

const [inFlight, charges] = Bun.argv.slice(2).map(Number)
if (import.meta.main && inFlight && charges !== undefined) {
  await inFolder(async (folder) => {
    const books = await openBooks(folder)
    await ours(books, inFlight, charges)
    await books.db.close()
  })
}
