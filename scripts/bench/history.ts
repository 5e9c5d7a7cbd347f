import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { serveGateway } from './gateway/served.ts'
import { ratio, requestFor, runLoad, targetAt } from './load/load.ts'
import { atMost, type BenchRow } from './row.ts'

const [few, many] = [10_000, 1_000_000]
const limit = 2
const everyMs = 700
const rowsAtOnce = 50_000

/** Creates a history of `count` rows, one every 700 ms until now, of two alternating models. */
function seed(database: Database, account: string, count: number): void {
  const start = Date.now() - count * everyMs
  const row = `'${account}', i, 'bench/model-' || (i % 2), (i + 1) / 2,
    printf('H%011d', i), printf('R%011d', i), ${start} + i * ${everyMs}, 'chat', 'api',
    'completed', 'bench', 'price', 20, 0, 200, 0, 0, 0, 30750, 90000, 420, 12`
  for (let at = 0; at < count; at += rowsAtOnce) {
    const end = Math.min(count, at + rowsAtOnce)
    database.run(`with recursive n(i) as (select ${at + 1} union all select i + 1 from n where i < ${end})
      insert into uses (account, number, model, model_number, id, request_id, at, type, source, status,
        upstream, price, input, cached, output, reasoning, searches, estimated, charged, held, ms,
        first_byte_ms) select ${row} from n`)
  }
  const counted = [
    ['', count],
    ['bench/model-0', count / 2],
    ['bench/model-1', count / 2],
  ]
  const add = database.query(
    'insert into use_counts (account, model, count, at) values (?, ?, ?, ?)',
  )
  for (const [model = '', rows = 0] of counted) add.run(account, model, rows, Date.now())
}

/** Measures history pages of an account with many rows against one with few, in server CPU. */
export async function bench(): Promise<BenchRow[]> {
  const { ctx, newAccount, stop } = await serveGateway()
  const [big, small] = [await newAccount(), await newAccount()]
  const database = new Database(join(ctx.dataDir, 'berth.sqlite'))
  database.run('pragma busy_timeout = 5000')
  seed(database, big.account, many)
  seed(database, small.account, few)
  database.close()
  const hour = new Date(Date.now() - 3_600_000).toISOString()
  const asks = [
    '',
    '?page=50',
    '?model=bench/model-1',
    `?to=${hour}`,
    `?from=${hour}&model=bench/model-0`,
  ]
  const rows: BenchRow[] = []
  for (const query of asks) {
    const targets = [big, small].map(({ key }) =>
      targetAt(ctx, requestFor(`/queries/history${query}`, { authorization: `Bearer ${key}` })),
    )
    const [ours = [], peer = []] = await runLoad({
      targets,
      connections: 4,
      turnMs: 150,
      rounds: 15,
    })
    const shown = query.replaceAll(hour, '{time}')
    const name = `GET /queries/history${shown} with 1,000,000 rows, vs. 10,000 rows`
    rows.push(atMost(name, 1 / ratio(ours, peer), limit))
  }
  await stop()
  return rows
}
