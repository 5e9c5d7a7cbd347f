import { expect, test } from 'bun:test'

import { catchError } from '../../testing/catch-error.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { addLibrary } from './added.ts'
import { addedLibrariesMax, fetchedLibrariesMax } from './library.ts'
import { libraries, libraryUses } from './tables.ts'
import { TarballError } from './tarball.ts'

const version = '1.0.0'
const libraryOf = (name: string) => ({
  name,
  version,
  license: 'MIT',
  files: new Map([['a.js', Buffer.from(name)]]),
})

const lodash = { name: 'lodash', version: '4.17.21' }
const used = (library: string) => ({ app: 'a', version: 1, library, sha256: 's', type: 't' })

test('a full store of fetched packages loses the oldest unused ones, and takes added ones', async () => {
  const { ctx, close } = await startTestServer()
  const rows = Array.from({ length: fetchedLibrariesMax }, (_, at) => ({
    name: `old-${at}`,
    version,
    license: 'MIT',
    added: at,
    source: 'fetched' as const,
  }))
  await ctx.db.tx(async (db) => {
    await db.insert(libraries).values(rows)
    await db.insert(libraryUses).values([used('old-0@1.0.0'), used('old-2@1.0.0')])
  })
  const names = async () =>
    new Set((await ctx.db.read.select().from(libraries)).map(({ name }) => name))

  // Their order is not known, but no two of them take one place.
  await Promise.all(['new-a', 'new-b'].map((name) => addLibrary(ctx, libraryOf(name), 'fetched')))
  await addLibrary(ctx, libraryOf('own'))
  const kept = await names()
  expect(kept.size).toBe(fetchedLibrariesMax + 1)
  const checked = ['old-0', 'old-1', 'old-2', 'old-3', 'old-4', 'new-a', 'new-b', 'own']
  expect(checked.filter((name) => kept.has(name))).toEqual(
    checked.filter((name) => name !== 'old-1' && name !== 'old-3'),
  )

  await ctx.db.tx((db) =>
    db
      .insert(libraryUses)
      .values([...kept].map((name) => used(`${name}@${version}`)))
      .onConflictDoNothing(),
  )
  const full = await catchError(addLibrary(ctx, libraryOf('late'), 'fetched'))
  expect(full).toBeInstanceOf(TarballError)
  expect(await names()).toEqual(kept)
  await close()
})

test('a copy of a package of the program loses its place, although apps use that package', async () => {
  const { ctx, close } = await startTestServer()
  const rows = Array.from({ length: fetchedLibrariesMax }, (_, at) => ({
    ...(at === 7 ? lodash : { name: `old-${at}`, version }),
    license: 'MIT',
    added: at,
    source: 'fetched' as const,
  }))
  await ctx.db.tx(async (db) => {
    await db.insert(libraries).values(rows)
    const labels = rows.map((row) => `${row.name}@${row.version}`)
    await db.insert(libraryUses).values(labels.map(used))
  })
  await addLibrary(ctx, libraryOf('new'), 'fetched')
  const names = (await ctx.db.read.select().from(libraries)).map(({ name }) => name)
  expect(names).toHaveLength(fetchedLibrariesMax)
  expect(names).toContain('new')
  expect(names).not.toContain('lodash')
  await close()
})

test('the operator adds no more than the bound', async () => {
  const { ctx, close } = await startTestServer()
  const rows = Array.from({ length: addedLibrariesMax - 1 }, (_, at) => ({
    name: `own-${at}`,
    version,
    license: 'MIT',
    added: at,
    source: 'added' as const,
  }))
  await ctx.db.tx((db) => db.insert(libraries).values(rows))
  const added = await Promise.allSettled(
    ['a-lib', 'b-lib'].map((name) => addLibrary(ctx, libraryOf(name))),
  )
  expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await close()
})
