import { expect, test } from 'bun:test'

import { refused } from '../../testing/books.ts'
import { openTestHouse } from '../../testing/test-server.ts'
import { list, unlink } from './identities.ts'
import { createPerson, identityRow } from './people.ts'
import { identities } from './tables.ts'

test('last_way_in: of two methods removed concurrently, one stays', async () => {
  const { ctx, close } = await openTestHouse()
  const one = async (name: string) => {
    const identity = { issuer: 'https://one.example', subject: name, names: [name] }
    const { person } = await createPerson(ctx, { name, password: null, identity })
    const other = identityRow(ctx, person.id, { ...identity, issuer: 'https://two.example' })
    await ctx.db.tx((db) => db.insert(identities).values(other))
    const ways = await list(ctx, person)
    const ends = await Promise.allSettled(ways.map(({ id }) => unlink(ctx, person, id)))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [left] = await list(ctx, person)
    await refused(unlink(ctx, person, left?.id ?? ''), 'last_way_in', {})
  }
  await Promise.all(['ann', 'ben', 'cyrus', 'dora'].map(one))
  await close()
})
