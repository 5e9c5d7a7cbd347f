import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { catchError } from '../../testing/catch-error.ts'
import {
  freshFile,
  openSampleDatabase,
  thing,
  things,
} from '../../testing/fixtures/sample-tables.ts'
import { until } from '../../testing/until.ts'
import { dialect } from './dialect.ts'
import { snapshot } from './snapshot.ts'

if (dialect === 'sqlite')
  test('writes a consistent copy of a live database over an older copy', async () => {
    const engine = await openSampleDatabase()
    const copy = freshFile()
    await Bun.write(copy, 'an older copy')
    // Every unit adds two rows: a copy with an odd number would be torn.
    let made = 0
    let copying = true
    const pair = (n: number) => [thing(`${n}x`), thing(`${n}y`)]
    const writing = (async () => {
      while (copying && made < 50_000) {
        await engine.tx((db) => db.insert(things).values(pair(made++)).returning())
      }
    })()
    await until(() => made >= 20)
    await snapshot(engine, copy)
    copying = false
    await writing
    await engine.close()
    const database = new Database(copy)
    const [[rows, ok] = []] = database
      .query('select count(*), (select integrity_check from pragma_integrity_check) from things')
      .values()
    database.close()
    expect(Number(rows)).toBeGreaterThanOrEqual(38)
    expect(Number(rows) % 2).toBe(0)
    expect(ok).toBe('ok')
    rmSync(copy)
  })

if (dialect === 'sqlite')
  test('reports why a copy failed and leaves no file', async () => {
    const engine = await openSampleDatabase()
    const nowhere = `${freshFile()}-nowhere/copy`
    expect(String(await catchError(snapshot(engine, nowhere)))).toContain('unable to open')
    expect(await Bun.file(nowhere).exists()).toBe(false)
    await engine.close()
  })

if (dialect === 'postgres')
  test('throws on PostgreSQL', async () => {
    const engine = await openSampleDatabase()
    expect(String(await catchError(snapshot(engine, freshFile())))).toContain('pg_dump')
    await engine.close()
  })
