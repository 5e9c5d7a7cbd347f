import { afterAll, expect, test } from 'bun:test'

import { hour } from '../../kernel/time.ts'
import { json } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { Model } from '../models/catalog.ts'

/** A model at several upstreams, under a name of its own at each. */
function balanced(id: string, names: string[], more: Partial<Model>): Model {
  const model = fakeModel('ok', more)
  const offers = names.map((upstream) => ({
    upstream,
    model: `${id}-${upstream}`,
    price: model.price,
    ...(upstream === 'ok' && { weight: 3 }),
  }))
  return { ...model, id: `fake/${id}`, offers }
}

const faked = await startFakeUpstreamServer({}, [
  balanced('weighted', ['ok', 'ok-crlf'], { balance: 'weights' }),
  balanced('limited', ['ok', 'ok-crlf'], {}),
  balanced('retried', ['ok-comments'], { retries: 1 }),
  balanced('measured', ['ok', 'ok-crlf'], {}),
])
const gus = await faked.gus('50')
const response = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }
const fine = json(200, { ...response, usage: { prompt_tokens: 5, completion_tokens: 2 } })
for (const id of ['weighted', 'limited', 'retried', 'measured']) {
  for (const name of ['ok', 'ok-crlf', 'ok-comments']) faked.fake.script(`${id}-${name}`, fine)
}
const busy = json(429, { error: { message: 'Slow down.' } }, 'retry-after: 60\r\n')
faked.fake.script('limited-ok', busy)
const broken = json(500, { error: { message: 'Broken.' } })
faked.fake.script('retried-ok-comments', broken, fine)
faked.fake.script('measured-ok', broken)
afterAll(() => faked.close())

/** Calls a model and returns the status, and the models that upstreams received. */
async function call(id: string) {
  const before = faked.fake.received.length
  const body = { model: `fake/${id}`, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 9 }
  const { status } = await gus.call('POST', '/v1/chat/completions', body)
  return { status, sent: faked.fake.received.slice(before).map((one) => one.body.model) }
}

test('weights distribute the calls of a model', async () => {
  const sent: unknown[] = []
  for (let calls = 0; calls < 8; calls += 1) sent.push(...(await call('weighted')).sent)
  expect(sent.filter((model) => model === 'weighted-ok')).toHaveLength(6)
  expect(sent.filter((model) => model === 'weighted-ok-crlf')).toHaveLength(2)
})

test('an upstream that is busy cools down while another serves', async () => {
  const [first, second] = [await call('limited'), await call('limited')]
  expect(first).toEqual({ status: 200, sent: ['limited-ok', 'limited-ok-crlf'] })
  expect(second).toEqual({ status: 200, sent: ['limited-ok-crlf'] })
})

test('retries repeat a call that reached no client, and only those of the model', async () => {
  const model = 'retried-ok-comments'
  expect(await call('retried')).toEqual({ status: 200, sent: [model, model] })
  const { total } = await faked.lastUse(gus)
  expect(await call('500')).toMatchObject({ status: 502, sent: ['fake/500'] })
  expect((await faked.lastUse(gus)).total).toBe(total + 1)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('calls are measured by upstream: success, latency, and what runs now', async () => {
  const { measurements } = faked.ctx.upstreams
  expect((await call('measured')).sent).toHaveLength(2)
  const { model } = faked.ctx.catalog.find('fake/measured') ?? {}
  const [bad, good] = model?.offers ?? []
  if (!bad || !good) throw new Error('The offers are missing.')
  expect(measurements.summarize([bad])).toMatchObject({ calls: 1, successRate: 0, running: 0 })
  const all = measurements.summarize([bad, good])
  expect(all).toMatchObject({ calls: 2, successRate: 0.5, running: 0 })
  expect(all?.firstByteMs?.p50).toBeGreaterThanOrEqual(0)
  // A request that the upstream rejects says nothing about the upstream.
  await call('400')
  expect(measurements.summarize([{ upstream: '400', model: 'fake/400' }])).toBeUndefined()
  // The console has the same attempts.
  const { models } = faked.ctx.state.observations
  expect(models.stats('fake/measured', hour)).toMatchObject({ count: 2, serverErrors: 1 })
  expect(models.stats('fake/400', hour).count).toBe(0)
  const body = { model: 'fake/ok', stream: true, messages: [{ role: 'user', content: 'Hi.' }] }
  await gus.call('POST', '/v1/chat/completions', body)
  const place = { upstream: 'ok', model: 'fake/ok' }
  expect(measurements.summarize([place])).toMatchObject({ calls: 1, running: 0 })
  expect(measurements.tokensPerSecond(place)).toBeGreaterThan(0)
  await gus.call('POST', '/v1/chat/completions', { ...body, model: 'fake/reset-middle' })
  const cut = { upstream: 'reset-middle', model: 'fake/reset-middle' }
  expect(measurements.summarize([cut])).toMatchObject({ calls: 1, successRate: 0, running: 0 })
})
