import { expect, test } from 'bun:test'

import { expectApiError } from '../testing/fixtures/ledger.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import { list, unlink } from './identities.ts'
import { createPerson, identityRow } from './people.ts'
import { identities } from './tables.ts'

test('last_way_in: of two methods removed concurrently, one stays', async () => {
  const { ctx, close } = await startTestServer()
  const one = async (name: string) => {
    const identity = { issuer: 'https://one.example', subject: name, names: [name] }
    const { person } = await createPerson(ctx, { name, password: null, identity })
    const other = identityRow(ctx, person.id, { ...identity, issuer: 'https://two.example' })
    await ctx.db.tx((db) => db.insert(identities).values(other))
    const ways = await list(ctx, person)
    const ends = await Promise.allSettled(ways.map(({ id }) => unlink(ctx, person, id)))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [left] = await list(ctx, person)
    await expectApiError(unlink(ctx, person, left?.id ?? ''), 'last_way_in', {})
  }
  await Promise.all(['ann', 'ben', 'cyrus', 'dora'].map(one))
  await close()
})
