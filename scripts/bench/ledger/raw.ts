/** The statements of a charge, written by hand for bun:sqlite on the same schema. */
import { Database } from 'bun:sqlite'

import { newId } from '../../../src/kernel/ids.ts'
import { stopwatch, systemClock } from '../../../src/kernel/time.ts'
import { accountOf, type Owner } from '../../../src/money/ledger/accounts.ts'

const statementsOf = (db: Database) => ({
  claim: db.query(
    `insert into holds (ref, id, account, kind, item, amount, charged, state, funds, parts, price,
       cap_key, cap_day, on_expiry, deadline, process, at)
     values (?, ?, ?, 'chat', null, ?, 0, 'held', 'any', '[]', 'null', ?, 'day', 'release', ?, 'p', ?)
     on conflict (ref) do nothing returning ref`,
  ),
  keep: db.query(
    'update accounts set held = held + ? where id = ? and balance - held >= ? returning id',
  ),
  count: db.query(
    `insert into caps (key, day, used) values (?, 'day', ?)
     on conflict (key, day) do update set used = caps.used + excluded.used returning used`,
  ),
  end: db.query(
    `update holds set state = 'settled', charged = ? where ref = ? and state = 'held' returning *`,
  ),
  move: db.query(
    `update accounts set balance = balance + ?, held = held - ?, entries = entries + 1
     where id = ? returning entries, balance, free, earned`,
  ),
  append: db.query(
    `insert into entries (account, number, ref, line, kind, item, amount, balance, free, earned, at)
     values (?, ?, ?, ?, 'chat', null, ?, ?, ?, ?, ?)`,
  ),
  uncount: db.query(`update caps set used = used - ? where key = ? and day = 'day'`),
})

/**
 * Returns a function that makes `total` charges, one of each owner in a commit, and returns the
 * charges per second.
 */
export function openRaw(
  file: string,
  owners: readonly Owner[],
  { amount, charge }: { amount: bigint; charge: bigint },
): (total: number) => number {
  const db = new Database(file, { safeIntegers: true })
  db.run('pragma journal_mode = wal')
  db.run('pragma synchronous = full')
  const { claim, keep, count, end, move, append, uncount } = statementsOf(db)
  const post = (account: string, ref: string, line: number, sum: bigint, held: bigint): void => {
    const [after = []] = move.values(sum, held, account)
    const [number = null, balance = null, free = null, earned = null] = after
    append.run(account, number, ref, line, sum, balance, free, earned, systemClock.now())
  }
  const group = (work: () => void): void => {
    db.run('begin immediate')
    work()
    db.run('commit')
  }
  return (total) => {
    const since = stopwatch()
    for (let done = 0; done < total; done += owners.length) {
      const asks = owners.map((owner) => ({ ref: newId(), id: newId(), owner }))
      group(() => {
        for (const { ref, id, owner } of asks) {
          const now = systemClock.now()
          claim.values(ref, id, accountOf(owner), amount, owner.owner, now + 60_000, now)
          keep.values(amount, accountOf(owner), amount)
          count.values(owner.owner, amount)
        }
      })
      group(() => {
        for (const { ref, owner } of asks) {
          end.values(charge, ref)
          post(accountOf(owner), ref, 0, -charge, amount)
          post('house:income', ref, 1, charge, 0n)
          uncount.run(amount - charge, owner.owner)
        }
      })
    }
    return (total / (stopwatch() - since)) * 1_000
  }
}
