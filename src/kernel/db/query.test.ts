import { afterAll, expect, test } from 'bun:test'

import { eq, sql } from 'drizzle-orm'

import { openSampleDatabase, thing, things } from '../../testing/fixtures/sample-tables.ts'
import { nano } from '../money.ts'
import { dialect } from './columns.ts'
import { compileQuery } from './query.ts'

const engine = await openSampleDatabase()
afterAll(() => engine.close())

/** Fails when a new version of drizzle changes the private fields that compileQuery reads. */
test.skipIf(dialect !== 'sqlite')('compiles the selects of the installed drizzle', async () => {
  const select = engine.read
    .select({ id: things.id, held: things.held })
    .from(things)
    .where(eq(things.id, sql.placeholder('id')))
    .prepare()
  const compiled = compileQuery(engine.read, () => select).bind(engine.read)
  expect(compiled).not.toBe(select)
  await engine.tx((db) => db.insert(things).values(thing('a', 5n)))
  expect(await compiled.execute({ id: 'a' })).toEqual([{ id: 'a', held: nano(5n) }])
  await expect(compiled.execute({})).rejects.toThrow('The query needs a value for id.')
})
