import { afterAll, expect, test } from 'bun:test'

import { eq, sql } from 'drizzle-orm'

import { openSampleDatabase, thing, things } from '../../testing/fixtures/sample-tables.ts'
import { nano } from '../money.ts'
import { dialect } from './columns.ts'
import { resolveColumns } from './query.ts'

const engine = await openSampleDatabase()
afterAll(() => engine.close())

/** Fails when a new version of drizzle changes the private fields that resolveColumns reads. */
test.skipIf(dialect !== 'sqlite')('reads the selects of the installed drizzle', async () => {
  const select = engine.read
    .select({ id: things.id, held: things.held })
    .from(things)
    .where(eq(things.id, sql.placeholder('id')))
    .prepare()
  const resolved = resolveColumns(engine.read, () => select)(engine.read)
  expect(resolved).not.toBe(select)
  await engine.tx((db) => db.insert(things).values(thing('a', 5n)))
  expect(await resolved.execute({ id: 'a' })).toEqual([{ id: 'a', held: nano(5n) }])
  await expect(resolved.execute({})).rejects.toThrow('No value for placeholder "id" was provided')
})
