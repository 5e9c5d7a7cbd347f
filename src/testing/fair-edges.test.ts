/** Small findings of an attack on all operations: each answers as it is declared. */
import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from './fixtures/gateway.ts'
import { startTestServer, type TestServer } from './fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
afterAll(() => t.close())

/** Returns the description of an operation by its id. */
async function describe(id: string) {
  const { body } = await t.call('GET', '/openapi.json')
  const operations = Object.values(Object(body).paths).flatMap((path) =>
    Object.values(Object(path)),
  )
  return Object(operations.find((operation) => Object(operation).operationId === id))
}

/** Returns the codes that an operation declares for a status. */
const codesOf = async (id: string, status: number): Promise<string> =>
  JSON.stringify((await describe(id)).responses[status] ?? '')

test.each(['', '\0', '\0a.txt', 'a\0.txt'])('an upload with the file name %j', async (name) => {
  const user = await createGatewayUser(t)
  const body = [
    '--x',
    `content-disposition: form-data; name="file"; filename="${name}"`,
    'content-type: text/plain',
    '',
    'tide',
    '--x--',
    '',
  ].join('\r\n')
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const made = await t.request('POST', '/v1/files', { key: user.key, headers, body })
  expect([200, 400]).toContain(made.status)
  if (made.status === 200) expect(made.text('filename')).toMatch(/^[^\0]+$/)
})

test('an asset may be any JSON value', async () => {
  const id = await ann.publish()
  await t.call('PUT', `/apps/${id}/assets/level.json`, {
    key: ann.key,
    headers: { 'content-type': 'application/octet-stream' },
    body: '{"level":1}',
  })
  const read = await ann.call('GET', `/apps/${id}/assets/level.json`)
  expect([read.status, read.body]).toEqual([200, { level: 1 }])
  const { content } = (await describe('get_asset')).responses[200]
  expect(content['*/*'].schema).not.toHaveProperty('type')
})

test('get_source declares no_key, which an empty key gets', async () => {
  const headers = { authorization: 'Bearer ' }
  const { status, code } = await t.call('GET', '/explore/AAAAAAAAAAAA/source', { headers })
  if (code === 'no_key') expect(status).toBe(401)
  expect(await codesOf('get_source', 401)).toContain('no_key')
})

test('a preview URL with another query field gets a declared 400', async () => {
  const { status } = await t.call('GET', '/looks/AAAAAAAAAAAA/1/a.png?q=x')
  expect(status).toBe(400)
  expect(await codesOf('look_at_asset', 400)).toContain('bad_request')
})

test('icons of an unlisted app and of an unknown id get the same response', async () => {
  const [unlisted, unknown] = await Promise.all(
    [await ann.publish(), 'AAAAAAAAAAAA'].map((id) => t.request('GET', `/icons/${id}.png`)),
  )
  const withoutId = (body: unknown) => String(body).replaceAll(/[A-Za-z0-9]{12}/g, '')
  expect([unlisted?.status, withoutId(unlisted?.body)]).toEqual([404, withoutId(unknown?.body)])
})

test.each(['/sitemap.xml', '/oembed?format=xml', '/oembed?url=x'])(
  '%s has nosniff',
  async (path) => {
    const id = await ann.publish()
    const link = encodeURIComponent(`${t.ctx.urls.app}/a/${id}`)
    for (const url of [path, `/oembed?url=${link}`]) {
      expect((await t.request('GET', url)).headers.get('x-content-type-options')).toBe('nosniff')
    }
  },
)

test('the policy of an app names the configured address, never the Host header', async () => {
  const csp = async (server: TestServer) => {
    const agent = await server.agent('bea')
    const id = await agent.publish()
    const headers = { host: 'evil.example' }
    const { status, headers: answered } = await server.request('GET', `/a/${id}`, { headers })
    return [status, answered.get('content-security-policy') ?? ''] as const
  }
  const configured = await startTestServer({ APP_URL: 'https://berth.example' })
  const [status, policy] = await csp(configured)
  expect(status).toBe(200)
  expect(policy).not.toContain('evil.example')
  expect(policy).toContain('berth.example')
  await configured.close()
  // Without a configured address, a server has pages at local names only (docs/decisions/0099).
  expect(await csp(t)).toEqual([421, ''])
})
