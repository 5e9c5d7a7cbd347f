import { expect, test } from 'bun:test'

import { htmlBytesMax } from '../kernel/limits.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

test('a NUL, which PostgreSQL takes in no text, is no key, no maker and no cursor', async () => {
  const { request, lines, agent, close } = await startTestServer()
  const ann = await agent('ann')
  await ann.publish()
  expect((await ann.call('DELETE', '/me/keys/%00')).code).toBe('not_found')
  expect((await ann.call('DELETE', '/me/keys/ak_abc%00defg')).code).toBe('not_found')
  expect((await ann.call('DELETE', '/me/hooks/%00')).code).toBe('not_found')
  const hook = await ann.call('POST', '/me/hooks', { url: 'https://example.com/' })
  const deliveries = `/me/hooks/${hook.text('hook.id')}/deliveries`
  expect((await ann.call('POST', `${deliveries}/%00/redeliver`)).code).toBe('not_found')
  expect((await request('GET', '/explore/@%00')).status).toBe(404)
  const cursor = Buffer.from('app 1 aaaaaaaaaaa\0').toString('base64url')
  expect((await ann.call('GET', `/apps?cursor=${cursor}`)).code).toBe('bad_request')
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  await close()
})

test('characters are counted as people count them, and a title can be seen', async () => {
  const { call, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  const boats = (count: number): string => '⛵🚤'.repeat(count / 2)
  const limits: [path: string, field: string, max: number][] = [
    ['/me', 'about', 160],
    [`/apps/${id}`, 'title', 80],
    [`/apps/${id}`, 'description', 500],
  ]
  for (const [path, field, max] of limits) {
    expect((await ann.call('PATCH', path, { [field]: boats(max) })).status).toBe(200)
    const over = await ann.call('PATCH', path, { [field]: `${boats(max)}a` })
    expect(over.code).toBe('bad_request')
    expect(over.text('error')).toContain(String(max))
  }
  expect((await ann.call('PATCH', `/apps/${id}`, { title: '\u200b\u200d ' })).code).toBe(
    'bad_request',
  )
  expect((await ann.call('POST', '/apps', { html: '' })).code).toBe('bad_request')
  const described = JSON.stringify((await call('GET', '/openapi.json')).body)
  expect(described).toContain('"maxLength":160')
  expect(described).not.toContain('charsMax')
  await close()
})

test('an error names the problem, also one byte above a limit', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  for (const limit of ['many', '101']) {
    const list = await ann.call('GET', `/apps?limit=${limit}`)
    expect(list.text('error')).toBe('"limit" must be a whole number (1 to 100).')
  }
  const big = await ann.call('POST', '/apps', { html: 'x'.repeat(htmlBytesMax + 1) })
  expect(big.text('error')).toStartWith('4.1 MB is over the limit of 4 MB.')
  await close()
})
