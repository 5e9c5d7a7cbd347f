import { expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { signInOperator, signUp } from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('adds up what keys, accounts and models spent in a range', async () => {
  const t = await startTestServer()
  const olga = await signInOperator(t)
  await signUp(t, 'cyrus', '198.51.100.7')
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const body = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const chat = (key: string) => t.request('POST', '/v1/chat/completions', { key, body })
  for (const key of [ann.key, ann.key, ben.key]) expect((await chat(key)).status).toBe(200)
  const page = (range: string): Promise<string> => olga.read(`/console/spend?range=${range}`)
  const today = await page('1d')
  const { text } = shownPage(today)
  const byKey = text.slice(text.indexOf('By key'), text.indexOf('By person'))
  expect(byKey).toMatch(/All keys.*@ann.*@ben/)
  expect(byKey).toContain('66.6 %')
  const byAccount = text.slice(text.indexOf('By person'), text.indexOf('By model'))
  expect(byAccount).toMatch(/@ann.*@ben/)
  expect(text.slice(text.indexOf('By model'))).toContain('demo/chat')
  t.clock.advance(3 * day)
  expect(await page('1d')).toContain('Nothing was spent in this time.')
  expect(await page('7d')).toContain('demo/chat')
  expect((await olga.open('/console/spend?range=odd')).status).toBe(200)
  await t.close()
})

test('counts a call once that an agent pays for a player, and says what each total has', async () => {
  const t = await startTestServer()
  const olga = await signInOperator(t)
  const ann = await t.agent('ann')
  const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
  const id = await ann.publish({ html })
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 50, playerDailyCap: 50 })
  const body = { messages: [{ role: 'user', content: 'Tell me of the sea' }] }
  const headers = { 'sec-fetch-site': 'same-origin' }
  const path = `/a/${id}/ai/v1/chat/completions`
  const chat = await t.request('POST', path, { body, headers, from: '192.0.2.50' })
  expect(chat.status).toBe(200)
  const { text } = await olga.show('/console/spend?range=1d')
  const [, ofKeys] = /All that keys spend ([\d.]+) credits\./.exec(text) ?? []
  const [, ofCalls] = /Calls of models ([\d.]+) credits\./.exec(text) ?? []
  expect(Number(ofKeys)).toBeGreaterThan(0)
  expect(ofKeys).toBe(ofCalls)
  const byKey = text.slice(text.indexOf('By key'), text.indexOf('Calls of models'))
  expect(byKey).toMatch(/All keys @ann [\d.]+ 100\.0 %/)
  expect(byKey).not.toContain('sponsor:')
  await t.close()
})

test('shows a share that is small, but not zero, as less than 0.1 %', async () => {
  const t = await startTestServer()
  const olga = await signInOperator(t)
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const chat = async (key: string, content: string): Promise<void> => {
    const body = { model: 'demo/chat', messages: [{ role: 'user', content }] }
    expect((await t.request('POST', '/v1/chat/completions', { key, body })).status).toBe(200)
  }
  await chat(ann.key, 'Hello')
  await chat(ben.key, 'Hello '.repeat(50_000))
  const { text } = await olga.show('/console/spend?range=1d')
  expect(text).toMatch(/@ann \S+ <0\.1 %/)
  await t.close()
})
