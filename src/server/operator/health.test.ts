import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'drizzle-orm'

import { dialect } from '../../kernel/db/columns.ts'
import { DamageCheck } from '../../kernel/db/damage.ts'
import { migrateSqlite } from '../../kernel/db/open.ts'
import { openSqlite } from '../../kernel/db/sqlite.ts'
import { openLog } from '../../kernel/log.ts'
import { systemClock } from '../../kernel/time.ts'
import { ledgerTables } from '../../money/ledger/view.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import { signInOperator } from '../../testing/fixtures/form-browser.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('a full disk is reported and the server stays ready', async () => {
  const t = await startTestServer({ DISK_FLOOR_BYTES: '999999999999999' })
  const body = { ok: true, disk: 'full' }
  expect(await t.request('GET', '/readyz')).toMatchObject({ status: 200, body })
  await t.close()
})

test('a bucket that does not respond is reported and the server stays ready', async () => {
  const bucket = {
    DATABASE_URL: 'postgres://127.0.0.1/unused',
    S3_ENDPOINT: 'https://s3.example.com',
    S3_BUCKET: 'berth-files',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
    METRICS_TOKEN: 'metrics',
  }
  const own = await startTestServer()
  let problem: string | undefined = 'SlowDown: Reduce your request rate.'
  const storage = Object.assign(Object.create(own.ctx.storage), { problem: async () => problem })
  const t = await startTestServer(bucket, { storage })
  const metrics = async () => (await t.request('GET', '/metrics', { key: 'metrics' })).body
  const operator = await signInOperator(t)
  const console = () => operator.read('/console')
  const body = { ok: true, files: 'unavailable' }
  expect(await t.request('GET', '/readyz')).toMatchObject({ status: 200, body })
  expect(await metrics()).toContain('berth_bucket_up 0')
  expect(await console()).toContain('Unavailable: SlowDown: Reduce your request rate.')
  problem = undefined
  expect((await t.request('GET', '/readyz')).body).toEqual({ ok: true })
  expect(await metrics()).toContain('berth_bucket_up 1')
  expect(await console()).toContain('In bucket berth-files')
  await t.close()
  await own.close()
})

test('a hanging database is reported as not ready while the process is healthy', async () => {
  const db = { ...(await freshEngine()), ping: () => new Promise<void>(() => {}) }
  const t = await startTestServer({}, { db })
  expect(await t.request('GET', '/readyz')).toMatchObject({ status: 503, body: { ok: false } })
  expect(t.lines.at(-2)).toMatchObject({ event: 'not ready', level: 'error' })
  expect(await t.request('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } })
  await t.close()
}, 20_000)

test.skipIf(dialect === 'postgres').each(['caps', 'free_days'])(
  'a damaged table of the ledger or of its budget is reported by /readyz: %s',
  async (table) => {
    const [name, aside] = [sql.identifier(table), sql.identifier('aside')]
    const db = await freshEngine()
    const t = await startTestServer({}, { db })
    await t.ctx.damage.probe()
    await t.ctx.damage.scan()
    expect(await t.request('GET', '/readyz')).toMatchObject({ status: 200, body: { ok: true } })
    await db.tx((tx) => tx.run(sql`alter table ${name} rename to ${aside}`))
    const body = { ok: false, ledger: 'damaged' }
    expect(await t.request('GET', '/readyz')).toMatchObject({ status: 503, body })
    const found = t.lines.filter(({ event }) => event === 'ledger.damaged')
    expect(found).toMatchObject([{ level: 'error', table }])
    await db.tx((tx) => tx.run(sql`alter table ${aside} rename to ${name}`))
    await t.close()
  },
)

test.skipIf(dialect === 'postgres')(
  'a damaged page within a table is found by the scan',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-damage-'))
    const file = join(dir, 'berth.sqlite')
    migrateSqlite(file)
    const raw = new Database(file)
    raw.run('pragma journal_mode = delete')
    const insert = raw.prepare('insert into caps (key, day, used) values (?, ?, 1)')
    raw.transaction(() => {
      for (let row = 0; row < 5_000; row += 1)
        insert.run(`key-${row}`.padEnd(60, '.'), '2026-01-01')
    })()
    const pages = raw
      .query('select pageno from dbstat where name = ? order by pageno')
      .values('caps')
    raw.close()
    const bytes = readFileSync(file)
    bytes.fill(0xff, (Number(pages[20]?.[0]) - 1) * 4_096, Number(pages[20]?.[0]) * 4_096)
    writeFileSync(file, bytes)
    const db = await openSqlite(file)
    const lines: string[] = []
    const log = openLog(systemClock, (line) => void lines.push(line))
    const check = new DamageCheck({ db, log }, ledgerTables)
    await check.scan()
    expect(check.table).toBe('caps')
    expect(lines.join()).toContain('ledger.damaged')
    await db.close()
    rmSync(dir, { recursive: true })
  },
)
