import { afterAll, expect, test } from 'bun:test'

import { openAiClient } from '../../testing/clients/openai-client.ts'
import { chatOf, chatUrl, createBatch, lineOf, resultsOf } from '../../testing/fixtures/batches.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { runLine } from './run-line.ts'

const faked = await startFakeUpstreamServer()
const ned = await faked.gus()
const openai = openAiClient(faked, ned)
afterAll(() => faked.close())

test('every line is charged like the same call, and once when it runs again', async () => {
  const names = ['ok', '500', 'html', 'usage-missing', 'content-filter', '402']
  const live = await faked.gus()
  for (const name of names) {
    await live.call('POST', chatUrl, { ...chatOf('Say hello.', `fake/${name}`), max_tokens: 50 })
  }
  const made = await createBatch(
    openai,
    names.map((name) => lineOf(name, { ...chatOf('Say hello.', `fake/${name}`), max_tokens: 50 })),
  )
  await faked.ctx.jobs.runDue()
  const balanceOf = async (user: GatewayUser) =>
    Reflect.get(Object((await user.call('POST', '/credits/balance')).body), 'balance')
  expect(await balanceOf(ned)).toBe(await balanceOf(live))
  const { output_file_id, error_file_id } = await openai.batches.retrieve(made.id)
  expect(Object.keys(await resultsOf(openai, output_file_id))).toEqual(['ok', 'usage-missing'])
  const errors = await resultsOf(openai, error_file_id)
  const statuses = Object.entries(errors).map(([name, result]) => [
    name,
    Object(result).response.status_code,
  ])
  expect(Object.fromEntries(statuses)).toEqual({
    '500': 502,
    html: 502,
    'content-filter': 400,
    '402': 503,
  })
  expect(await faked.findProblems(ned)).toEqual([])
})

test('a line that was settled before a crash returns its response and is charged once', async () => {
  const batch = { id: 'batch_AAAAAAAAAAAA', owner: ned.creditId, key: ned.key.slice(0, 11) }
  const line = { line: 1, customId: 'a', body: chatOf('Say hello.', 'fake/ok') }
  const run = () => runLine(faked.ctx, { ...batch, endpoint: chatUrl }, line)
  const first = await run()
  const { total } = await faked.lastUse(ned)
  const second = await run()
  expect(second).toMatchObject({ status_code: 200, body: Reflect.get(first, 'body') })
  expect((await faked.lastUse(ned)).total).toBe(total)
})

test('a busy upstream and a key at its rate pause the batch', async () => {
  const key = await ned.call('POST', '/accounts/keys', { requests_per_minute: 1 })
  const batch = { id: 'batch_BBBBBBBBBBBB', owner: ned.creditId, endpoint: chatUrl }
  const run = (prefix: string, model: string, line = 1) =>
    runLine(
      faked.ctx,
      { ...batch, key: prefix },
      { line, customId: 'a', body: chatOf('Say hello.', model) },
    )
  expect(await run(key.text('prefix'), 'fake/ok')).toMatchObject({ status_code: 200 })
  expect(await run(key.text('prefix'), 'fake/ok')).toEqual({ pausedMs: expect.any(Number) })
  const busy = await run(ned.key.slice(0, 11), 'fake/429', 2)
  expect(busy).toEqual({ pausedMs: expect.any(Number) })
  expect(await faked.findProblems(ned)).toEqual([])
})
