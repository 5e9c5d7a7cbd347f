import { expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { migratePostgres } from '../../kernel/db/open.ts'
import { openPostgres } from '../../kernel/db/postgres.ts'
import { fromCredits as credits } from '../../kernel/money.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { ann, fund, holdRequest, openTestLedger } from '../../testing/fixtures/ledger.ts'
import { startPausableProxy } from '../../testing/fixtures/pausable-proxy.ts'
import { withHold } from './paid-work.ts'

test.skipIf(dialect !== 'postgres')(
  'a hold and its charge send ten times to PostgreSQL',
  async () => {
    const url = await createDatabase()
    await migratePostgres(url)
    const proxy = startPausableProxy(new URL(url))
    const near = new URL(url)
    near.host = proxy.host
    const db = await openPostgres(near.href)
    const books = await openTestLedger(db)
    await fund(books, ann, 1_000)
    const limits = { cap: { key: 'ak_1', max: null }, caller: { id: 'ak_1', max: 64 } }
    const sends: number[] = []
    // A connection prepares each statement with its first use, which takes further sends.
    for (let at = 0; at < 50; at += 1) {
      const before = proxy.countSends()
      const outcome = { result: at, charge: credits(1) }
      await withHold(books, holdRequest(`work ${at}`, 5, limits), async () => outcome)
      sends.push(proxy.countSends() - before)
    }
    expect(Math.min(...sends)).toBeLessThanOrEqual(10)
    await db.close()
    proxy.close()
    await dropDatabase(url)
  },
  60_000,
)
