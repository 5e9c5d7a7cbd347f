import { expect, test } from 'bun:test'

import { day } from '../../core/time.ts'
import { signInOperator, signUp } from '../../testing/fixtures/form-browser.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('adds up what keys, accounts and models spent in a range', async () => {
  const h = await startTestServer()
  const olga = await signInOperator(h)
  await signUp(h, 'cyrus', '198.51.100.7')
  const [ann, ben] = [await h.agent('ann'), await h.agent('ben')]
  const body = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const chat = (key: string) => h.request('POST', '/v1/chat/completions', { key, body })
  for (const key of [ann.key, ann.key, ben.key]) expect((await chat(key)).status).toBe(200)
  const page = (range: string): Promise<string> => olga.read(`/console/spend?range=${range}`)
  const today = await page('1d')
  const byKey = today.slice(today.indexOf('<h2>By key'), today.indexOf('<h2>By person'))
  expect(byKey).toMatch(/All keys[^]*@ann<\/a>[^]*@ben<\/a>/)
  expect(byKey).toContain('66.6 %')
  const byAccount = today.slice(today.indexOf('<h2>By person'), today.indexOf('<h2>By model'))
  expect(byAccount).toMatch(/@ann<\/a>[^]*@ben<\/a>/)
  expect(today.slice(today.indexOf('<h2>By model'))).toContain('demo/chat')
  h.clock.advance(3 * day)
  expect(await page('1d')).toContain('Nothing was spent in this time.')
  expect(await page('7d')).toContain('demo/chat')
  expect((await olga.open('/console/spend?range=odd')).status).toBe(200)
  await h.close()
})
