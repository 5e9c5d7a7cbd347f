import { afterAll, expect, test } from 'bun:test'

import { loadConfig } from '../../kernel/config/load.ts'
import { openLog } from '../../kernel/log.ts'
import { systemClock } from '../../kernel/time.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { openCatalog } from '../models/open-catalog.ts'
import { createDemoUpstream } from './demo/demo.ts'
import { createOpenAiAdapter } from './openai-compatible.ts'
import { keyedUpstreams, openUpstreams, Registry } from './registry.ts'

const fake = startFakeUpstream()
afterAll(() => fake.close())

function housed() {
  const lines: string[] = []
  const log = openLog(systemClock, (line) => void lines.push(line))
  return { lines, ctx: { clock: systemClock, log } }
}

const quiet = { DATA_DIR: '/nowhere', OLLAMA_HOST: 'off' }
const open = (environment: Record<string, string>) =>
  openUpstreams(loadConfig({}, { ...quiet, ...environment }), housed().ctx)

const call = (model: string) => ({
  model,
  request: { messages: [], tools: [], choices: 1, sampling: {}, stop: [], extra: {} },
  isStream: false,
  outputMax: 100,
  stopsItself: true,
  signal: AbortSignal.timeout(5_000),
})

test('opens the demo without configuration and a provider with its key', async () => {
  const bare = await open({})
  expect([bare.registry.names, bare.demo]).toEqual([['demo'], true])
  const keyed = await open({ GROQ_API_KEY: 'k', XAI_API_KEY: 'k' })
  expect([keyed.registry.names, keyed.demo]).toEqual([['groq', 'xai'], false])
  expect(keyed.published).toEqual(['groq', 'xai'])
  const both = await open({ GROQ_API_KEY: 'k', DEMO_MODELS: 'on' })
  expect(both.registry.names).toEqual(['groq', 'demo'])
  expect((await open({ DEMO_MODELS: 'off' })).registry.names).toEqual([])
})

test('opens an AI SDK provider with its key alone', async () => {
  const keys = ['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'COHERE_API_KEY', 'FAL_KEY']
  const more = ['REPLICATE_API_TOKEN', 'ELEVENLABS_API_KEY', 'DEEPGRAM_API_KEY']
  const { registry } = await open(Object.fromEntries([...keys, ...more].map((key) => [key, 'k'])))
  expect(registry.names.map((name) => [name, registry.find(name)?.kind])).toEqual([
    ['gemini', 'google'],
    ['anthropic', 'anthropic'],
    ['cohere', 'cohere'],
    ['fal', 'fal'],
    ['replicate', 'replicate'],
    ['elevenlabs', 'elevenlabs'],
    ['deepgram', 'deepgram'],
  ])
})

test('lists the models of Ollama and ignores a missing one', async () => {
  const models = [{ name: 'llama3.2:3b' }, { name: 'nomic-embed-text:latest' }]
  const ollama = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: { '/api/tags': Response.json({ models }) },
  })
  const found = await open({ OLLAMA_HOST: `127.0.0.1:${ollama.port}` })
  await ollama.stop(true)
  expect(found.local).toEqual(models.map(({ name }) => ({ upstream: 'ollama', model: name })))
  expect([found.demo, found.registry.names]).toEqual([true, ['ollama', 'demo']])
  const gone = await open({ OLLAMA_HOST: '127.0.0.1:1' })
  expect([gone.local, gone.registry.names]).toEqual([[], ['demo']])
})

test('opens the breaker of one upstream after failures and logs it', async () => {
  const { lines, ctx } = housed()
  const adapter = (name: string) =>
    createOpenAiAdapter({ name, baseUrl: fake.baseUrl, apiKey: 'sk-hush' })
  const registry = new Registry([adapter('a'), adapter('b')], ctx)
  const [a, b] = [registry.find('a'), registry.find('b')]
  for (const model of ['fake/500', 'fake/reset-first', 'fake/503', 'fake/401', 'fake/403']) {
    expect(a?.isAvailable).toBe(true)
    await a?.chat(call(model)).catch(() => {})
  }
  expect([a?.isAvailable, b?.isAvailable]).toEqual([false, true])
  const before = fake.received.length
  await expect(a?.chat(call('fake/ok'))).rejects.toMatchObject({ kind: 'refused' })
  expect(fake.received.length).toBe(before)
  const events = lines.map((line): unknown => JSON.parse(line).event)
  expect(events).toEqual([
    ...Array(3).fill('upstream.failed'),
    'upstream.key_refused',
    'upstream.key_refused',
    'upstream.open',
  ])
  expect(lines.join('')).not.toContain('sk-hush')
  await b?.chat(call('fake/ok'))
  const reported = { kind: 'openai', answeredAt: expect.any(Number), lastFailure: undefined }
  const at = expect.any(Number)
  expect(registry.health()).toEqual([
    {
      name: 'a',
      kind: 'openai',
      state: 'open',
      answers: 0,
      failures: 5,
      answeredAt: undefined,
      lastFailure: { at, why: 'status 403' },
    },
    { ...reported, name: 'b', state: 'closed', answers: 1, failures: 0 },
  ])
})

test('does not count client errors and disconnects as failures', async () => {
  const adapters = [
    createOpenAiAdapter({ name: 'a', baseUrl: fake.baseUrl }),
    createDemoUpstream(systemClock),
  ]
  const registry = new Registry(adapters, housed().ctx)
  const [a, demo] = [registry.find('a'), registry.find('demo')]
  const left = { ...call('fake/ok'), signal: AbortSignal.abort() }
  for (let times = 0; times < 6; times += 1) {
    expect(await a?.chat(call('fake/400'))).toMatchObject({ rejected: { status: 400 } })
    expect(await a?.chat(call('fake/429'))).toMatchObject({ rejected: { status: 429 } })
    for (const one of [a, demo]) {
      await expect(one?.chat(left)).rejects.toMatchObject({ kind: 'aborted' })
    }
  }
  expect([a?.isAvailable, demo?.isAvailable]).toEqual([true, true])
})

test('several API keys of a provider are upstreams of their own with the same models', async () => {
  const { registry, replicas, published } = await open({ GROQ_API_KEY: 'gsk-a,gsk-b,gsk-c' })
  expect(registry.names).toEqual(['groq', 'groq#2', 'groq#3'])
  expect([published, replicas.get('groq')]).toEqual([['groq'], ['groq#2', 'groq#3']])
  const sources = { models: [], published, local: [], demo: false, marginPercent: 0 }
  const catalog = await openCatalog({ ...sources, replicas, now: systemClock.now() })
  const [model] = catalog.list(['chat'])
  expect(model?.offers).toMatchObject([
    { upstream: 'groq' },
    { upstream: 'groq#2', replicaOf: 'groq' },
    { upstream: 'groq#3', replicaOf: 'groq' },
  ])
})

test('Azure needs its endpoint, Bedrock its region, and Vertex only a key', async () => {
  const without = await open({ AZURE_OPENAI_API_KEY: 'k', DEMO_MODELS: 'off' })
  expect(without.registry.names).toEqual([])
  const endpoint = new URL(fake.baseUrl).origin
  const { registry, published } = await open({
    AZURE_OPENAI_API_KEY: 'k',
    AZURE_OPENAI_ENDPOINT: `${endpoint}/`,
    AWS_BEARER_TOKEN_BEDROCK: 'k',
    GOOGLE_VERTEX_API_KEY: 'k',
  })
  expect(published.toSorted()).toEqual(['azure', 'bedrock', 'vertex'])
  expect(await registry.find('azure')?.chat(call('fake/ok'))).toMatchObject({
    response: { status: 200 },
  })
  expect(fake.received.at(-1)).toMatchObject({
    path: '/openai/v1/chat/completions',
    headers: { authorization: 'Bearer k' },
  })
  const config = loadConfig(
    {},
    { ...quiet, AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-west-3' },
  )
  expect(keyedUpstreams(config)).toMatchObject([
    { name: 'bedrock', baseUrl: 'https://bedrock-runtime.eu-west-3.amazonaws.com' },
  ])
  expect(() => loadConfig({}, { ...quiet, AWS_REGION: 'evil.example/' })).toThrow()
  const sources = { models: [], published, local: [], demo: false, marginPercent: 0 }
  const ids = (await openCatalog({ ...sources, now: systemClock.now() })).list().map(({ id }) => id)
  expect(ids.some((id) => id.startsWith('bedrock/amazon.nova'))).toBe(true)
  expect(ids.some((id) => id.startsWith('bedrock/regional'))).toBe(false)
  expect(ids.some((id) => id.startsWith('google/gemini'))).toBe(true)
})

test('serves the models of local servers, and starts without one that is down', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('/v1/models')
        ? Response.json({ data: [{ id: 'qwen3-8b' }, { id: 'nomic-embed' }] })
        : new Response(null, { status: 404 }),
  })
  const opened = await open({
    VLLM_URL: `${server.url.origin}/v1`,
    LMSTUDIO_URL: server.url.origin,
    LLAMACPP_URL: 'http://127.0.0.1:9',
  })
  await server.stop()
  expect([opened.registry.names.toSorted(), opened.demo]).toEqual([
    ['llamacpp', 'lmstudio', 'vllm'],
    false,
  ])
  expect(opened.local).toHaveLength(4)
  const sources = { ...opened, models: [], marginPercent: 0, now: systemClock.now() }
  const catalog = await openCatalog(sources)
  expect(catalog.find('vllm/qwen3-8b')?.model).toMatchObject({ type: 'chat' })
  expect(catalog.find('lmstudio/nomic-embed')?.model).toMatchObject({ type: 'embedding' })
})
