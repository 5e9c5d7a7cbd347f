import { expect, test } from 'bun:test'

import { providers } from '../../kernel/config/providers.ts'
import type { Catalog } from './catalog.ts'
import { chargeOf } from './charge.ts'
import { openCatalog, type Sources } from './open-catalog.ts'
import { presentPrice } from './price.ts'
import { parseModelList } from './public-lists.ts'
import { createUsage } from './usage.ts'

const now = Date.UTC(2026, 10, 21)
const open = (sources: Partial<Sources> = {}) =>
  openCatalog({
    models: [],
    published: [],
    local: [],
    demo: false,
    marginPercent: 0,
    now,
    ...sources,
  })

const row = {
  id: 'local/small',
  upstreams: ['a', 'b'],
  upstreamModel: 'small-q4',
  type: 'chat',
  price: { prompt: '0.0000000375', completion: '0.00000015' },
} as const
const own = { ...row, upstreams: [...row.upstreams] }

const priceOf = (catalog: Catalog, id: string) => {
  const price = catalog.find(id)?.model.price
  return price && presentPrice(price)
}

test('finds a model by its exact id and by id with suffixes', async () => {
  const models = [own, { ...own, id: 'local/llama3.2:3b' }, { ...own, id: 'local/small:floor' }]
  const catalog = await open({ models })
  const find = (id: string) => {
    const found = catalog.find(id)
    return found && [found.model.id, ...found.suffixes]
  }
  expect(find('local/small')).toEqual(['local/small'])
  expect(find('local/llama3.2:3b')).toEqual(['local/llama3.2:3b'])
  expect(find('local/llama3.2:3b:nitro:online')).toEqual(['local/llama3.2:3b', 'nitro', 'online'])
  expect(find('local/small:floor')).toEqual(['local/small:floor'])
  expect(find('local/small:floor:floor')).toEqual(['local/small:floor', 'floor'])
  expect(find('local/small:online:nitro')).toEqual(['local/small', 'online', 'nitro'])
  for (const id of ['local/small:fast', 'local/small:', 'local/small:nitro:nitro', 'small', '']) {
    expect(find(id)).toBeUndefined()
  }
  expect(find(`local/small${':nitro'.repeat(100_000)}`)).toBeUndefined()
})

test('prices all demo models and lists them by type', async () => {
  const catalog = await open({ demo: true })
  const ids = (types?: Parameters<Catalog['list']>[0]) => catalog.list(types).map(({ id }) => id)
  expect(ids(['embedding', 'image'])).toEqual(['demo/embedding', 'demo/image'])
  expect(ids()).toHaveLength(12)
  expect(ids()).toEqual(ids().toSorted())
  for (const model of catalog.list()) {
    expect(model.name).toStartWith('Demo')
    expect(
      model.price && chargeOf(model.price, createUsage({ prompt: 1, searches: 1 })),
    ).toBeGreaterThan(0n)
    expect(model.offers).toEqual([{ upstream: 'demo', model: model.id, price: model.price }])
  }
  const small = catalog.find('demo/small')?.model
  expect(small).toMatchObject({ supportsTools: false, inputs: ['text'], contextLength: 8_000 })
})

test("orders the upstreams of an operator's row and adds the margin", async () => {
  const catalog = await open({ models: [own], marginPercent: 20 })
  const model = catalog.find('local/small')?.model
  expect(model?.offers.map(({ upstream, model }) => [upstream, model])).toEqual([
    ['a', 'small-q4'],
    ['b', 'small-q4'],
  ])
  expect(priceOf(catalog, 'local/small')).toEqual({
    prompt: '0.000000045',
    completion: '0.00000018',
  })
})

test('gives no price to a row without the parts of its type', async () => {
  const half = { ...own, price: { prompt: '0.1' } }
  expect((await open({ models: [half] })).find('local/small')?.model.price).toBeUndefined()
  const free = { ...own, price: { prompt: '0', completion: '0' } }
  expect((await open({ models: [free] })).find('local/small')?.model.price).toBeDefined()
  const wrong = { ...own, price: { per_second: '1', per_minute: '1' } }
  await expect(open({ models: [wrong] })).rejects.toThrow('The price of local/small')
})

test('charges local models', async () => {
  const catalog = await open({
    local: [
      { upstream: 'ollama', model: 'llama3.2:3b' },
      { upstream: 'ollama', model: 'nomic-embed-text' },
    ],
  })
  expect(priceOf(catalog, 'ollama/llama3.2:3b')).toEqual({
    prompt: '0.0000001',
    completion: '0.0000001',
  })
  expect(catalog.find('ollama/nomic-embed-text')?.model.type).toBe('embedding')
})

test('uses published prices exactly', async () => {
  const catalog = await open({ published: ['openai', 'gemini', 'groq'] })
  expect(priceOf(catalog, 'openai/gpt-4o')).toEqual({
    prompt: '0.0000025',
    completion: '0.00001',
    cache_read: '0.00000125',
  })
  expect(catalog.find('openai/gpt-4o')?.model).toMatchObject({
    type: 'chat',
    inputs: ['text', 'image'],
    supportsTools: true,
    contextLength: 128_000,
    maxOutput: 16_384,
    offers: [{ upstream: 'openai', model: 'gpt-4o' }],
  })
  expect(priceOf(catalog, 'google/gemini-2.5-pro')).toEqual({
    prompt: '0.00000125',
    completion: '0.00001',
    cache_read: '0.000000125',
    tiers: [
      { above: 200_000, prompt: '0.0000025', completion: '0.000015', cache_read: '0.00000025' },
    ],
  })
  expect(catalog.find('openai/text-embedding-3-small')?.model.type).toBe('embedding')
  expect(priceOf(catalog, 'openai/whisper-1')).toEqual({ per_minute: '0.006' })
  expect(priceOf(catalog, 'openai/tts-1')).toEqual({ per_character: '0.000015' })
  expect(catalog.find('google/claude-3-opus')).toBeUndefined()
})

test('lists published text models and media of non-OpenAI providers', async () => {
  const published = ['anthropic', 'gemini', 'fal', 'replicate', 'elevenlabs', 'deepgram']
  const catalog = await open({ published })
  expect(priceOf(catalog, 'anthropic/claude-haiku-4-5')).toEqual({
    prompt: '0.000001',
    completion: '0.000005',
    cache_read: '0.0000001',
    cache_write: '0.00000125',
  })
  const inputs = (id: string) => catalog.find(id)?.model.inputs
  expect(inputs('anthropic/claude-haiku-4-5')).toEqual(['text', 'image', 'file'])
  expect(priceOf(catalog, 'google/gemini-2.5-flash')).toMatchObject({ audio: '0.000001' })
  expect(inputs('google/gemini-2.5-flash')).toEqual(['text', 'image', 'file', 'audio', 'video'])
  expect(catalog.find('anthropic/claude-opus-4-8')?.model.maxOutput).toBe(128_000)
  expect(priceOf(catalog, 'fal/flux-pro/v1.1-ultra')).toEqual({ per_image: '0.06' })
  expect(catalog.find('deepgram/nova-2')?.model).toMatchObject({
    inputs: ['audio'],
    type: 'audio',
  })
  expect(priceOf(catalog, 'replicate/black-forest-labs/flux-schnell')?.per_image).toBe('0.003')
  expect(priceOf(catalog, 'elevenlabs/eleven_v3')).toEqual({ per_character: '0.0001' })
  expect(priceOf(catalog, 'deepgram/nova-3')).toEqual({ per_minute: '0.0052' })
  expect(catalog.find('google/gemini-2.5-flash-image')?.model.type).toBe('image')
})

test('merges a model of several providers into one with an offer each', async () => {
  const catalog = await open({ published: ['groq', 'openrouter'] })
  const model = catalog.find('openai/gpt-oss-120b')?.model
  expect(model?.offers.map(({ upstream }) => upstream)).toEqual(['groq', 'openrouter'])
  expect(model?.offers.every(({ price }) => price !== undefined)).toBe(true)
  const replaced = await open({
    published: ['groq'],
    models: [{ ...own, id: 'openai/gpt-oss-120b' }],
  })
  expect(replaced.find('openai/gpt-oss-120b')?.model.offers[0]?.upstream).toBe('a')
})

/** Providers without published prices in the binary. */
const syncedOnly = new Set(['deepinfra', 'nebius', 'alibaba', 'nvidia'])

test('serves a provider without published prices from a synced list', async () => {
  const list = {
    deepinfra: {
      models: {
        'maker/model': {
          name: 'Model',
          cost: { input: 1, output: 2 },
          limit: { context: 1_000, output: 100 },
          modalities: { input: ['text'], output: ['text'] },
        },
      },
    },
  }
  const catalog = await open({ published: ['deepinfra'], synced: parseModelList(list) })
  expect(catalog.find('maker/model')?.model.offers).toMatchObject([
    { upstream: 'deepinfra', model: 'maker/model' },
  ])
})

test('names a model as its provider does', async () => {
  const catalog = await open({ published: ['fireworks'] })
  const [offer] = catalog.list()[0]?.offers ?? []
  expect(offer?.model).toStartWith('accounts/fireworks/models/')
})

test('reads every published row with a price', async () => {
  const names = Object.keys(providers)
  const catalog = await open({ published: names })
  expect(catalog.list().length).toBeGreaterThan(500)
  expect(catalog.list().filter(({ price }) => !price)).toEqual([])
  expect(catalog.list().filter(({ id }) => !/^[^/\s]+\/\S+$/.test(id))).toEqual([])
  for (const upstream of names) {
    const isServed = catalog
      .list()
      .some(({ offers }) => offers.some((one) => one.upstream === upstream))
    expect([upstream, isServed]).toEqual([upstream, !syncedOnly.has(upstream)])
  }
})

test('excludes models that bill their own searches or support no chat', async () => {
  const catalog = await open({ published: ['openai', 'openrouter'] })
  const ids = catalog
    .list()
    .flatMap(({ offers }) => offers.map(({ upstream, model }) => `${upstream} ${model}`))
  expect(ids.filter((id) => /search-preview|deep-research|sonar/.test(id))).toEqual([])
  expect(ids.filter((id) => /^openai .*(-pro$|codex)/.test(id))).toEqual([])
  expect(ids).toContain('openrouter openai/o3-pro')
})

test('uses the highest price of the day', async () => {
  const catalog = await open({ published: ['deepseek'] })
  expect(priceOf(catalog, 'deepseek/deepseek-chat')).toEqual({
    prompt: '0.00000027',
    completion: '0.0000011',
    cache_read: '0.00000007',
  })
})

test('takes prices of MODEL_PRICES without the margin, except where a row has its price', async () => {
  const { price: _, ...unpriced } = own
  const catalog = await open({
    models: [own, { ...unpriced, id: 'local/bare' }],
    local: [{ upstream: 'ollama', model: 'a' }],
    marginPercent: 50,
    modelPrices: [
      'local/small prompt=1 completion=1',
      'local/bare prompt=0.000002 completion=0.000004 cache_read=0',
      'ollama/a per_image=1',
      'x/unknown prompt=1',
    ],
  })
  expect(priceOf(catalog, 'local/small')?.prompt).toBe('0.00000005625')
  const bare = { prompt: '0.000002', completion: '0.000004', cache_read: '0' }
  expect(priceOf(catalog, 'local/bare')).toEqual(bare)
  // The parts of another type are no price: requests are rejected.
  expect(priceOf(catalog, 'ollama/a')).toBeUndefined()
  expect(catalog.find('ollama/a')?.model.offers[0]?.listPrice).toBeDefined()
})
