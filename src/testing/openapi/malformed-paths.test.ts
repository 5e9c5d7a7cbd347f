import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from '../fixtures/gateway.ts'
import { startTestServer } from '../fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listOperations } from './document.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const ann = await t.agent('ann')
const gus = await createGatewayUser(t)
const app = await ann.publish()
afterAll(() => t.close())

const values = [
  '%zz',
  '%ff',
  '%',
  '%00',
  'a%00b',
  '%2500',
  '..%2f..%2fme',
  '%5c..%5cme',
  '%ed%a0%80',
]

/** Paths of the site and of OpenRouter, Gemini and Cohere; "*" is the parameter. */
const pages = [
  '/a/*',
  '/a/*/data',
  `/a/${app}/files/*`,
  `/a/${app}/versions/*`,
  `/a/${app}/versions/1/files/*`,
  '/skills/*',
  `/skills/${app}/files/*`,
  '/frameworks/*/SKILL.md',
  '/.well-known/skills/*/SKILL.md',
  '/.well-known/agent-skills/a/*',
  '/@*/.well-known/skills/index.json',
  '/explore/*',
  '/explore/@*',
  '/explore/*/next',
  '/runs/*',
  '/collections/*',
  '/report/*',
  '/static/*',
  '/covers/*/1-a.webp',
  `/covers/${app}/*`,
  '/catalogue/*',
  '/v1beta/models/*',
  '/v2/*',
  '/v2/models/*',
  '/anthropic/models/*',
  '/mistral/models/*',
  '/api/v1/models/*',
  '/api/v1/*',
  '/v1/models/*',
  '/models/*',
  '/*',
]

test.each(pages)('%s is 404 for a value that names nothing', async (page) => {
  for (const value of values) {
    const path = page.replace('*', value)
    const response = await t.handle(new Request(`http://localhost:3000${path}`), '192.0.2.7')
    // A page of the site sends visitors without a session to sign in.
    expect([path, [302, 303, 400, 404].includes(response.status)]).toEqual([path, true])
  }
})

const operationsOf = async () => [
  ...listOperations(await getDocument(t)).map((one) => ({ ...one, start: '/api', key: ann.key })),
  ...listOperations(await getGatewayDocument(t)).map((one) => ({
    ...one,
    start: '/v1',
    key: gus.key,
  })),
]

test('no operation fails on a path parameter that is malformed', async () => {
  const withParams = (await operationsOf()).filter(({ path }) => path.includes('{'))
  expect(withParams.length).toBeGreaterThan(80)
  for (const { method, path, start, key } of withParams) {
    for (const value of values) {
      const url = start + path.replaceAll(/\{\w+\}/g, value)
      const body = /^(post|put|patch)$/i.test(method) ? {} : undefined
      const { status } = await t.request(method.toUpperCase(), url, { key, ...(body && { body }) })
      const isExpected = status >= 400 && status < 500
      expect([method, url, isExpected || status]).toEqual([method, url, true])
    }
  }
})
