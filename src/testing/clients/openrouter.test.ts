import { afterAll, expect, test } from 'bun:test'

import { fakeText } from '../fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../fixtures/fake-upstream-server.ts'
import { serveGateway } from '../fixtures/gateway.ts'

interface Chunk {
  id: string
  choices: { delta: { content?: string | null } }[]
}

/** The operations of the client that these tests use. */
interface OpenRouter {
  chat: { send(request: object): Promise<AsyncIterable<Chunk>> }
  generations: { getGeneration(request: object): Promise<{ data: { totalCost: number } }> }
  models: {
    list(): Promise<AsyncIterable<{ result: { data: { id: string }[]; totalCount: number } }>>
    get(request: object): Promise<{ data: { id: string } }>
  }
  endpoints: { list(request: object): Promise<{ data: { endpoints: object[] } }> }
  providers: { list(): Promise<{ data: object[] }> }
  credits: { getCredits(): Promise<{ data: { totalCredits: number; totalUsage: number } }> }
  apiKeys: { getCurrentKeyMetadata(): Promise<{ data: object }> }
}

// Its declarations replace those of the runtime with a browser's, so it is loaded without them.
const packageName: string = '@openrouter/sdk'
const { OpenRouter }: { OpenRouter: new (options: object) => OpenRouter } = await import(
  packageName
)

const faked = await startFakeUpstreamServer()
const served = serveGateway(faked)
const client = await newClient()
afterAll(async () => {
  await served.stop()
  await faked.close()
})

async function newClient(usd = '1'): Promise<OpenRouter> {
  const { key } = await served.gus(usd)
  const retryConfig = { strategy: 'none' } as const
  return new OpenRouter({ apiKey: key, serverURL: `${served.origin}/api/v1`, retryConfig })
}

const request = (model: string) => ({
  chatRequest: { model, messages: [{ role: 'user' as const, content: 'Say hello.' }] },
})

test('a chat has the id by which its cost is found', async () => {
  const completion = Object(
    await client.chat.send({ chatRequest: { ...request('fake/ok').chatRequest, stream: false } }),
  )
  expect(completion.choices[0].message.content).toBe(fakeText.join(''))
  const { data } = await client.generations.getGeneration({ id: completion.id })
  expect(data).toMatchObject({
    id: completion.id,
    model: 'fake/ok',
    tokensPrompt: completion.usage.promptTokens,
    totalCost: completion.usage.cost,
    providerName: expect.any(String),
  })
  expect(data.totalCost).toBeGreaterThan(0)
  const stranger = await newClient()
  const foreign = await stranger.generations
    .getGeneration({ id: completion.id })
    .catch((error) => error)
  expect(foreign).toMatchObject({ statusCode: 404, error: { code: 404 } })
})

test('a stream has the same id in each chunk, and ends with a numeric error when it breaks', async () => {
  const streamed = async (model: string) => {
    const chunks: Chunk[] = []
    const stream = await client.chat.send({
      chatRequest: { ...request(model).chatRequest, stream: true },
    })
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }
  const chunks = await streamed('fake/ok')
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
    fakeText.join(''),
  )
  const { data } = await client.generations.getGeneration({ id: String(chunks[0]?.id) })
  expect(data.totalCost).toBeGreaterThan(0)
  // It ends with the usage, which OpenRouter sends unasked.
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { cost: data.totalCost } })
  const broken = await streamed('fake/error-event')
  expect(broken.at(-1)).toMatchObject({
    error: { code: 502, message: expect.stringContaining('charged') },
    choices: [{ finishReason: 'error' }],
  })
})

test('models, upstreams, key and credits pass the validation of the client', async () => {
  const [page, ...more] = await Array.fromAsync(await client.models.list())
  expect([page?.result.data.length, more]).toEqual([page?.result.totalCount, []])
  expect(page?.result.data.find(({ id }) => id === 'fake/ok')).toMatchObject({
    pricing: { prompt: expect.stringMatching(/^0\.0/) },
    topProvider: { isModerated: false },
  })
  const one = await client.models.get({ author: 'fake', slug: 'ok' })
  expect(one.data.id).toBe('fake/ok')
  const { data: described } = await client.endpoints.list({ author: 'fake', slug: 'ok' })
  expect(described.endpoints).toMatchObject([{ modelId: 'fake/ok', status: 0 }])
  expect((await client.providers.list()).data).toContainEqual(
    expect.objectContaining({ name: 'ok', slug: 'ok' }),
  )
  const own = await newClient('2')
  const before = await own.credits.getCredits()
  expect(before.data).toEqual({ totalCredits: 2, totalUsage: 0 })
  await own.chat.send({ chatRequest: { ...request('fake/ok').chatRequest, stream: false } })
  const [after, key] = [await own.credits.getCredits(), await own.apiKeys.getCurrentKeyMetadata()]
  expect(after.data.totalCredits).toBe(2)
  expect(after.data.totalUsage).toBeGreaterThan(0)
  expect(key.data).toMatchObject({
    usage: after.data.totalUsage,
    usageDaily: after.data.totalUsage,
    limit: null,
  })
})

test('errors have a numeric code, the name of this gateway beside it', async () => {
  const failure = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return Object(error)
  }
  const poor = await newClient('0')
  const send = (who: OpenRouter, model: string) =>
    failure(who.chat.send({ chatRequest: { ...request(model).chatRequest, stream: false } }))
  expect(await send(client, 'no/such')).toMatchObject({
    statusCode: 404,
    error: { code: 404, metadata: { error_code: 'model_not_found', param: 'model' } },
  })
  expect(await send(poor, 'fake/ok')).toMatchObject({
    statusCode: 402,
    error: { code: 402, metadata: { error_code: 'insufficient_quota' } },
  })
  const wrong = new OpenRouter({ apiKey: 'sk-no', serverURL: `${served.origin}/api/v1` })
  expect(await send(wrong, 'fake/ok')).toMatchObject({ statusCode: 401, error: { code: 401 } })
  const unknown = await fetch(`${served.origin}/api/v1/nothing`)
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: 404 } }])
  const openAi = await fetch(`${served.origin}/v1/nothing`)
  expect(await openAi.json()).toMatchObject({ error: { code: 'unknown_url' } })
})
