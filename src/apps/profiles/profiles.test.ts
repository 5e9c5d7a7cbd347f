import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { unzipSync } from 'fflate'

import { decide } from '../../server/operator/decisions.ts'
import { expectError } from '../../testing/expect-error.ts'
import { createTestPerson, password, type TestPerson } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let item: string
let people = 0

beforeAll(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  item = await ben.publish({ title: 'Reef', store: true })
})
afterAll(() => t.close())

const newPerson = (): Promise<TestPerson> => createTestPerson(t, `person-${(people += 1)}x`)

/** Returns a person with a public page at this handle. */
async function publicPerson(handle: string, more: object = {}): Promise<TestPerson> {
  const person = await newPerson()
  const changed = await person.call('PATCH', '/people/me/profile', {
    handle,
    public: true,
    ...more,
  })
  expect(changed.status).toBe(200)
  return person
}

const claim = async (person: TestPerson, agent: TestAgent): Promise<unknown> => {
  const code = (await agent.call('POST', '/me/claim')).text('claim.code')
  return person.call('POST', '/claim', { code })
}

const sitemap = async () => String((await t.request('GET', '/sitemap.xml')).body)

async function isGone(handle: string): Promise<void> {
  await expectError(t, 404, 'not_found', () => t.call('GET', `/people/@${handle}`))
  expect(await sitemap()).not.toContain(`/@${handle}<`)
}

describe('the page of a person', () => {
  test('shows agents, items, collections, reviews and follows, each where it is chosen', async () => {
    const olga = await publicPerson('olga', { about: 'Boats and games' })
    const dora = await t.agent('dora')
    await claim(olga, dora)
    const boat = await dora.publish({ title: 'Boat', store: true })
    await dora.publish({ title: 'Unlisted' })
    const made = await dora.call('POST', '/me/collections', { title: 'Calm' })
    await dora.call('PUT', `/collections/${made.text('collection.id')}/items/${item}`)
    await dora.call('POST', `/apps/${item}/remix`)
    await dora.call('PUT', `/explore/${item}/review`, { stars: 5, text: 'Lovely.' })
    await olga.call('PUT', '/people/me/follows/ben')
    const { body } = await t.call('GET', '/people/@olga')
    expect(body).toMatchObject({
      person: {
        handle: 'olga',
        page: 'http://localhost:3000/@olga',
        about: 'Boats and games',
        avatar: null,
      },
      agents: [{ handle: 'dora', owner: '@olga' }],
      items: [{ id: boat, title: 'Boat' }],
      collections: [{ title: 'Calm' }],
      reviews: [],
      follows: [],
    })
    expect(JSON.stringify(body)).not.toContain(olga.person.name)
    expect((await t.call('GET', '/explore/@dora')).body).toMatchObject({
      maker: { owner: '@olga' },
    })

    await olga.call('PATCH', '/people/me/profile', { shows: ['reviews', 'follows'] })
    const { body: changed } = await t.call('GET', '/people/@olga')
    expect(changed).toMatchObject({
      agents: [],
      items: [],
      collections: [],
      reviews: [{ item, author: '@dora', stars: 5, text: 'Lovely.' }],
      follows: ['@ben'],
    })
    expect((await t.call('GET', '/explore/@dora')).body).toMatchObject({ maker: { owner: null } })
  })

  test('is private until the person makes it public, and again afterwards', async () => {
    const person = await newPerson()
    expect((await person.call('GET', '/people/me/profile')).body).toMatchObject({
      handle: null,
      suggestion: person.person.name,
      public: false,
    })
    await person.call('PATCH', '/people/me/profile', { handle: 'quay-side' })
    await isGone('quay-side')
    await person.call('PATCH', '/people/me/profile', { public: true })
    expect((await t.call('GET', '/people/@quay-side')).status).toBe(200)
    await person.call('PATCH', '/people/me/profile', { public: false })
    await isGone('quay-side')
  })

  test('stays where the handle before leads, which nobody else gets', async () => {
    const person = await publicPerson('first-name')
    await person.call('PATCH', '/people/me/profile', { handle: 'second-name' })
    expect((await t.call('GET', '/people/@first-name')).body).toMatchObject({
      person: { handle: 'second-name' },
    })
    const other = await newPerson()
    await expectError(t, 409, 'handle_taken', () =>
      other.call('PATCH', '/people/me/profile', { handle: 'first-name' }),
    )
    // The person may return to it.
    const back = await person.call('PATCH', '/people/me/profile', { handle: 'first-name' })
    expect(back.status).toBe(200)
  })

  test('is gone when the operator hides it or suspends the person', async () => {
    const { person, call } = await publicPerson('loud-one')
    for (const [hide, show] of [
      ['hide-page', 'show-page'],
      ['suspend', 'unsuspend'],
    ] as const) {
      const hidden = await decide(t.ctx, hide, { item: person.name, why: 'spam', by: 'operator' })
      expect(hidden?.ok).toBe(true)
      await isGone('loud-one')
      if (hide === 'hide-page') {
        expect((await call('GET', '/people/me/profile')).body).toMatchObject({ hidden: 'spam' })
        // Making it public again does not show it.
        await call('PATCH', '/people/me/profile', { public: true })
        await isGone('loud-one')
      }
      await decide(t.ctx, show, { item: person.name, why: '', by: 'operator' })
      expect((await t.call('GET', '/people/@loud-one')).status).toBe(200)
      expect(await sitemap()).toContain('/@loud-one<')
    }
  })
})

describe('a handle', () => {
  const rejected: [string, string, number, string][] = [
    ['a reserved word', 'admin', 400, 'bad_handle'],
    ['a look-alike of a reserved word', 'adm1n', 400, 'bad_handle'],
    ['the handle of an agent', 'ann', 409, 'handle_taken'],
    ['a look-alike of an agent', 'b-en', 400, 'bad_handle'],
    ['Unicode look-alikes', 'аnn-cy', 400, 'bad_handle'],
    ['capitals', 'Olga', 400, 'bad_handle'],
    ['too short', 'ab', 400, 'bad_handle'],
  ]
  test.each(rejected)(
    'that is %s is rejected, and nothing is stored',
    async (_, handle, status, code) => {
      const person = await newPerson()
      await expectError(t, status, code, () =>
        person.call('PATCH', '/people/me/profile', { handle, public: true }),
      )
      expect((await person.call('GET', '/people/me/profile')).body).toMatchObject({ handle: null })
    },
  )

  test('of a person is not free for agents, nor is a look-alike', async () => {
    await publicPerson('harbour')
    await expectError(t, 409, 'handle_taken', () =>
      t.call('POST', '/keys', { body: { handle: 'harbour' } }),
    )
    await expectError(t, 400, 'bad_handle', () =>
      t.call('POST', '/keys', { body: { handle: 'harb0ur' } }),
    )
  })

  test('is chosen at sign-up, and a rejected one creates no account', async () => {
    const body = { name: 'sign-up-one', password, handle: 'root' }
    await expectError(t, 400, 'bad_handle', () => t.call('POST', '/people', { body }))
    const made = await t.call('POST', '/people', { body: { ...body, handle: 'newcomer' } })
    expect(made.status).toBe(201)
    expect((await t.call('GET', '/people/@newcomer')).body).toMatchObject({
      person: { handle: 'newcomer' },
    })
  })
})

test('two people who choose one handle at once do not both get it', async () => {
  const pair = [await newPerson(), await newPerson()]
  const results = await Promise.all(
    pair.map(({ call }) => call('PATCH', '/people/me/profile', { handle: 'one-berth' })),
  )
  expect(results.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('a change needs a person, and refuses unknown parts and long texts', async () => {
  const path = '/people/me/profile'
  await expectError(t, 401, 'no_key', () => t.call('PATCH', path, { body: { public: true } }))
  await expectError(t, 403, 'wrong_key_kind', () => ann.call('PATCH', path, { public: true }))
  const person = await newPerson()
  for (const body of [
    {},
    { shows: ['wallet'] },
    { shows: ['agents', 'agents'] },
    { about: 'x'.repeat(161), handle: 'long-about' },
    { about: 'two\nlines', handle: 'long-about' },
    { public: true },
    { handle: 5 },
  ]) {
    await expectError(t, 400, 'bad_request', () => person.call('PATCH', path, body))
  }
  expect((await person.call('GET', path)).body).toMatchObject({ handle: null })
})

test('a picture is cropped, shown, exported, and deleted with the person', async () => {
  const what = { kind: 'picture', what: 'mountains', seed: '1', width: 80, height: 40 } as const
  const png = (await t.ctx.generators.generate(what)).bytes
  const image = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
  const path = '/people/me/profile/avatar'
  const nobody = await newPerson()
  await expectError(t, 400, 'bad_request', () => nobody.call('PUT', path, { image }))
  const person = await publicPerson('painter')
  await expectError(t, 400, 'bad_request', () => person.call('PUT', path, { image: 'data:,x' }))
  const url = (await person.call('PUT', path, { image })).text('avatar')
  const address = new URL(url).pathname
  const shown = await t.request('GET', address)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/webp'])
  expect(await new Bun.Image(shown.bytes).metadata()).toMatchObject({ width: 256, height: 256 })

  const { bytes } = await person.call('GET', '/people/me/export')
  expect(Object.keys(unzipSync(bytes))).toContain('avatar.webp')

  await person.call('PATCH', '/people/me/profile', { public: false })
  expect((await t.request('GET', address)).status).toBe(404)
  await person.call('PATCH', '/people/me/profile', { public: true })
  expect((await person.call('DELETE', path)).body).toMatchObject({ avatar: null })
  expect((await t.request('GET', address)).status).toBe(404)
})
