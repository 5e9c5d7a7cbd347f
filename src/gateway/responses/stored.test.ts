import { afterAll, describe, expect, test } from 'bun:test'

import OpenAI from 'openai'

import { day } from '../../kernel/time.ts'
import { catchError } from '../../testing/catch-error.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { deleteExpired } from './stored-responses.ts'
import { storedResponses } from './tables.ts'

const t = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '30' })
const gus = await createGatewayUser(t, '1')
const client = openAiClient(t, gus)
afterAll(() => t.close())

const model = 'demo/chat'

test('a response is stored by default, read, and deleted', async () => {
  const made = await client.responses.create({ model, input: 'one' })
  expect(made).toMatchObject({ store: true })
  const read = await client.responses.retrieve(made.id)
  expect(read).toMatchObject({ id: made.id, output: made.output, usage: made.usage })
  const items = await client.responses.inputItems.list(made.id)
  expect(items.data).toMatchObject([
    { id: expect.any(String), type: 'message', role: 'user', content: [{ text: 'one' }] },
  ])
  await client.responses.delete(made.id)
  expect(await catchError(client.responses.retrieve(made.id))).toBeInstanceOf(OpenAI.NotFoundError)
  expect(await catchError(client.responses.delete(made.id))).toBeInstanceOf(OpenAI.NotFoundError)
})

test('with "store": false nothing is stored', async () => {
  const before = (await t.ctx.db.read.select().from(storedResponses)).length
  const made = await client.responses.create({ model, input: 'one', store: false })
  expect(made).toMatchObject({ store: false })
  expect((await t.ctx.db.read.select().from(storedResponses)).length).toBe(before)
  expect(await catchError(client.responses.retrieve(made.id))).toBeInstanceOf(OpenAI.NotFoundError)
})

describe('previous_response_id', () => {
  test('continues the conversation, whole and as a stream', async () => {
    const server = await startFakeUpstreamServer({ RESPONSES_KEPT_DAYS: '1' }, [], {}, 'responses')
    const one = await server.gus()
    const openai = openAiClient(server, one)
    // An upstream with this API gets what asks for reasoning in it.
    const reasoning = { effort: 'low' } as const
    const first = await openai.responses.create({ model: 'fake/ok', input: 'First.', reasoning })
    const stream = openai.responses.stream({
      model: 'fake/ok',
      instructions: 'Be short.',
      input: 'Second.',
      previous_response_id: first.id,
    })
    const second = await stream.finalResponse()
    expect(second).toMatchObject({ previous_response_id: first.id, store: true })
    await openai.responses.create({
      model: 'fake/ok',
      input: [{ role: 'user', content: 'Third.' }],
      previous_response_id: second.id,
    })
    const reply = { role: 'assistant', content: first.output_text }
    // Instructions belong to their own request.
    expect(server.fake.received.at(-1)?.body.messages).toEqual([
      { role: 'user', content: 'First.' },
      reply,
      { role: 'user', content: 'Second.' },
      reply,
      { role: 'user', content: 'Third.' },
    ])
    const texts = (await openai.responses.inputItems.list(second.id, { order: 'asc' })).data
    expect(texts).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
    expect(await server.findProblems(one)).toEqual([])
    await server.close()
  })

  test('is a 400 for an unknown, foreign or deleted response, and costs nothing', async () => {
    const first = await client.responses.create({ model, input: 'one' })
    const second = await client.responses.create({
      model,
      input: 'two',
      previous_response_id: first.id,
    })
    await client.responses.delete(first.id)
    const ann = await createGatewayUser(t, '1', '198.51.100.7')
    const before = await t.snapshot()
    const continueFrom = (user: GatewayUser, previous_response_id: unknown) =>
      user.call('POST', '/v1/responses', { model, input: 'x', previous_response_id })
    const rejected = [
      await continueFrom(gus, second.id),
      await continueFrom(gus, first.id),
      await continueFrom(gus, 'resp_1'),
      await continueFrom(gus, 7),
      await continueFrom(ann, second.id),
    ]
    for (const { status, body } of rejected) {
      expect([status, body]).toMatchObject([400, { error: { param: 'previous_response_id' } }])
    }
    expect(await t.snapshot()).toEqual(before)
  })
})

test('a large response is not stored, and a 400 where the client insists', async () => {
  const input = 'x'.repeat(5_000_000)
  const { status, body } = await gus.call('POST', '/v1/responses', { model, input, store: true })
  expect([status, body]).toMatchObject([400, { error: { param: 'store' } }])
})

test('maintenance deletes responses without use, and a use keeps the conversation', async () => {
  const unused = await client.responses.create({ model, input: 'one' })
  const first = await client.responses.create({ model, input: 'two' })
  t.clock.advance(29 * day)
  const last = await client.responses.create({
    model,
    input: 'three',
    previous_response_id: first.id,
  })
  t.clock.advance(2 * day)
  const gone = catchError(client.responses.retrieve(unused.id))
  expect(await gone).toBeInstanceOf(OpenAI.NotFoundError)
  await deleteExpired(t.ctx)
  const ids = (await t.ctx.db.read.select().from(storedResponses)).map(({ id }) => id)
  expect(ids.toSorted()).toEqual([first.id, last.id].toSorted())
})

test('a server without the setting names it', async () => {
  const off = await startTestServer({ DEMO_MODELS: 'on' })
  const one = await createGatewayUser(off, '1')
  for (const body of [{ store: true }, { previous_response_id: 'resp_1' }]) {
    const response = await one.call('POST', '/v1/responses', { model, input: 'x', ...body })
    const message = expect.stringContaining('RESPONSES_KEPT_DAYS')
    const [param] = Object.keys(body)
    expect([response.status, response.body]).toMatchObject([400, { error: { message, param } }])
  }
  const made = await one.call('POST', '/v1/responses', { model, input: 'x' })
  expect(made.body).toMatchObject({ store: false })
  const read = await one.call('GET', `/v1/responses/${made.text('id')}`)
  const message = expect.stringContaining('RESPONSES_KEPT_DAYS')
  expect([read.status, read.body]).toMatchObject([404, { error: { message } }])
  await off.close()
})
