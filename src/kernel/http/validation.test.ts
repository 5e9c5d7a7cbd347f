import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const ann = await t.agent('ann')
const gus = await createGatewayUser(t, '1')
const app = await ann.publish()
afterAll(() => t.close())

const createKey = (expires_at: unknown) =>
  gus.call('POST', '/v1/accounts/keys', { name: 'a', expires_at })

test.each(['', 'x', 7, [['x']], {}, '2026-12-31', '2026-13-31T00:00:00Z', '2026-12-31T24:00:00Z'])(
  'expires_at %j names the format that it wants',
  async (value) => {
    const { status, body } = await createKey(value)
    const message = '"expires_at" must be a date-time such as 2026-12-31T00:00:00Z or null.'
    expect([status, body]).toMatchObject([400, { error: { message, param: 'expires_at' } }])
  },
)

test('a date-time like the example is accepted, in each form of RFC 3339', async () => {
  const iso = '2026-12-31T00:00:00.000Z'
  for (const text of [
    '2026-12-31T00:00:00Z',
    iso,
    '2026-12-31T02:00:00+02:00',
    '2026-12-30T22:00:00.000-02:00',
  ]) {
    const { status, body } = await createKey(text)
    expect([text, status, Object(body).expires_at]).toEqual([text, 201, iso])
  }
  expect((await createKey(null)).body).toMatchObject({ expires_at: null })
  for (const past of ['2026-01-01T00:00:00Z', '2026-02-30T00:00:00Z']) {
    const message = 'expires_at must be a date-time in the future, such as 2026-12-31T00:00:00Z.'
    expect((await createKey(past)).body).toMatchObject({ error: { message } })
  }
})

const id = 'a'.repeat(12)

test.each([
  [
    '/me/hooks',
    { url: 'https://a.example', kinds: ['review.new', 'review.new'] },
    '"kinds" must be an array, not empty, without duplicates.',
  ],
  ['/me/hooks', { url: 'https://a.example', kinds: ['none'] }, '"kinds.0" must be one of '],
  [
    `/apps/${app}/assets`,
    { assets: 'none' },
    '"assets" must be "waiting" or an array (1 to 20 items).',
  ],
  [
    `/apps/${app}/assets`,
    { assets: [{}] },
    '"assets.0.name" is missing: it must be a string that matches',
  ],
  [
    `/apps/${app}/assets`,
    { assets: [{ name: 'a.png', kind: 'sprite', what: 'a', width: 'x' }] },
    '"assets.0.width" must be an integer',
  ],
  ['/apps', { files: [{ path: 'a.html', text: null }] }, '"files.0.text" must be a string.'],
  ['/apps', { html: '' }, '"html" must be a string, not empty.'],
  ['/apps', { html: null }, '"html" must be a string, not empty.'],
  [
    '/frameworks',
    { skill: 'a', steps: [{ id: 'a', title: 'A' }] },
    '"steps.0.done" is missing: it must be a string',
  ],
  ['/me/notes/read', { ids: [id, ''] }, '"ids.1" must be a string that matches'],
])('%s %j names the field, the problem and what is accepted', async (path, body, message) => {
  const response = await ann.call('POST', path, body)
  expect([response.status, response.text('error')]).toEqual([400, expect.stringContaining(message)])
})

test.each([
  ['/explore?limit=0', '"limit" must be a whole number (1 to 100).'],
  ['/explore?limit=x', '"limit" must be a'],
  ['/explore?sort=none', '"sort" must be one of '],
  ['/me/earnings?from=x', '"from"'],
])('%s names the parameter and what is accepted', async (path, message) => {
  const response = await ann.call('GET', path)
  expect([response.status, response.text('error')]).toEqual([400, expect.stringContaining(message)])
})
