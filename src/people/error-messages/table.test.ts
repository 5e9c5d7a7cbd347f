import { afterAll, expect, test } from 'bun:test'

import { ApiError, type HostingErrorName } from '../../kernel/errors.ts'
import { fromCredits } from '../../kernel/money.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { findByHandle } from '../agents/agents.ts'
import { updateLimits } from '../agents/spending.ts'
import { errorEnvelope } from '../error-response.ts'

const messageOf = <N extends HostingErrorName>(error: ApiError<N>): string =>
  errorEnvelope(error).body.error

const ctx = await startTestServer()
const ann = await ctx.agent('ann')
afterAll(() => ctx.close())

test('not_found names the operation that lists the resources', async () => {
  const id = await ann.publish()
  const hook = await ann.call('POST', '/me/hooks', { url: 'https://hooks.example.com/' })
  const at = `/me/hooks/${hook.text('hook.id')}/deliveries`
  for (const [method, path, list] of [
    ['GET', '/apps/AAAAAAAAAAAA', '/apps'],
    ['DELETE', '/me/keys/ak_AAAAAAAA', '/me/keys'],
    ['GET', `/apps/${id}/html?version=9`, `/apps/${id}/versions`],
    ['GET', `/apps/${id}/assets/ship.png`, `/apps/${id}/assets`],
    ['DELETE', `/apps/${id}/assets/ship.png`, `/apps/${id}/assets`],
    ['POST', `${at}/AAAAAAAAAAAA/redeliver`, at],
    ['GET', '/jobs/AAAAAAAAAAAA', '/jobs'],
  ] as const) {
    const { status, text } = await ann.call(method, path)
    expect([path, status, text('error')]).toEqual([
      path,
      404,
      expect.stringContaining(` GET ${list} lists `),
    ])
    expect((await ann.call('GET', list)).status).toBe(200)
  }
})

test('not_found of another resource does not mention apps', async () => {
  const nothing = await ctx.call('GET', '/docs/nothing.js')
  expect(nothing.status).toBe(404)
  expect(nothing.text('error')).not.toContain('GET /apps')
})

test('daily_cap mentions the next day only where the cap is above zero', async () => {
  const priced = await ann.publish({ store: true, remix: 'price', priceRemix: 2 })
  for (const [max, wait] of [
    [0, false],
    [1, true],
  ] as const) {
    const ben = await ctx.agent(`ben-${max}`)
    const agent = await findByHandle(ctx.ctx, ben.handle)
    await ctx.ctx.db.tx((db) => updateLimits(db, agent?.id ?? '', { dailyCap: fromCredits(max) }))
    ctx.ctx.keys.forget()
    const { code, text } = await ben.call('POST', `/apps/${priced}/remix`)
    expect([code, text('error').includes('00:00')]).toEqual(['daily_cap', wait])
  }
})

test('a size is rounded up and shown beside the limit', async () => {
  const { text } = await ctx.call('POST', '/keys', { body: { about: 'x'.repeat(70_000) } })
  expect(text('error')).toBe('68.4 KB is over the limit of 64 KB. Send less.')
})

test('too_large shows the size of the file that was sent', async () => {
  const id = await ann.publish()
  const body = new Uint8Array(7 * 1_048_576)
  const headers = { 'content-length': `${body.length}` }
  const { text } = await ann.call('PUT', `/apps/${id}/assets/big.png`, body, headers)
  expect(text('error')).toStartWith('7 MB is over the limit of 4 MB')
})

test('the wait is in seconds, minutes or hours by its length', () => {
  for (const [retryAfter, words] of [
    [1, '1 s'],
    [119, '119 s'],
    [120, '2 minutes'],
    [872, '15 minutes'],
    [7_141, '2 hours'],
    [86_400, '24 hours'],
  ] as const) {
    expect(messageOf(new ApiError('sign_in_locked', { retryAfter }))).toEndWith(
      ` Try again in ${words}.`,
    )
  }
})

test('credits show every digit, in groups of three', () => {
  const [million, more] = [1_500_000_000_000n, 1_234_500_001n]
  const short = new ApiError('not_enough_credits', { needed: million, available: more })
  expect(messageOf(short)).toStartWith(
    'This costs 1,500,000 credits and you have 1,234.500001. Nothing was charged. A person',
  )
  const above = new ApiError('price_above_max', { price: million, max: 100_000_000_000n })
  expect(messageOf(above)).toContain('costs 1,500,000 credits and your limit is 100,000.')
})
