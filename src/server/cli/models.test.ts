import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { presentPrice } from '../../gateway/models/price.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import { openLog } from '../../kernel/log.ts'
import { systemClock } from '../../kernel/time.ts'
import { openModels } from '../context.ts'
import { check, list, sync } from './models.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'berth-models-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

/** Responses of the fake server by path. Lists of models need its key. */
const pages = new Map<string, unknown>()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url, headers }) => {
    const { pathname } = new URL(url)
    const key = headers.get('authorization')
    if (pathname.endsWith('/models') && key !== 'Bearer sk-fake') {
      return Response.json({ error: `${key} is wrong` }, { status: 401 })
    }
    const page = pages.get(pathname)
    return page === undefined ? new Response('none', { status: 404 }) : Response.json(page)
  },
})
afterAll(() => server.stop(true))
const at = (path: string): string => `http://127.0.0.1:${server.port}${path}`

const upstream = (name: string, key = 'sk-fake') => `[[upstream]]
name = "${name}"
kind = "openai"
base_url = "${at(`/${name}`)}"
api_key = "${key}"
`
const model = (
  id: string,
  name: string,
  price = 'price = { prompt = "0.000001", completion = "0" }',
) =>
  `[[model]]\nid = "${id}"\nupstream = "${name}"\nupstream_model = "${id.slice(6)}"\ntype = "chat"\n${price}\n`

/** Runs `berth models ...` with this berth.toml and these variables. */
async function run(words: string, tables: string[] = [], variables: Record<string, string> = {}) {
  await Bun.write(join(dataDir, 'berth.toml'), tables.join('\n'))
  const quiet = { DATA_DIR: dataDir, OLLAMA_HOST: 'off', ...variables }
  const config = loadConfig({}, quiet)
  const [verb, ...urls] = words.split(' ').filter((word) => word !== '--yes')
  const { ok, text, data } =
    verb === 'sync'
      ? await sync(config, urls, /--yes/.test(words))
      : await (verb === 'check' ? check : list)(config)
  return { ok, lines: text.split('\n'), data, config }
}

test('list prints every model with its price and upstreams', async () => {
  const demo = await run('list')
  expect(demo.lines).toContain(
    'demo/chat           chat        0.1 in, 0.4 out per 1M tokens; 0.005 per_search  demo',
  )
  expect(demo.lines).toContain(
    'demo/image          image       0.001 per_image                                  demo',
  )
  expect(demo.lines).toContain(
    'demo/rerank         rerank      0.0001 per_search                                demo',
  )
  const rows = [
    upstream('one'),
    upstream('two'),
    model('local/a', 'one'),
    model('local/b', 'two', ''),
  ]
  expect(await run('list', rows)).toMatchObject({
    ok: true,
    lines: [
      'MODEL    TYPE  PRICE IN USD                     UPSTREAMS',
      'local/a  chat  1 in, 0 out per 1M tokens        one',
      'local/b  chat  no price: requests are rejected  two',
    ],
  })
})

test('check reports unknown, missing and unpriced models and failed upstreams, without keys', async () => {
  pages.set('/one/models', { data: [{ id: 'a-2026-05-04' }, { id: 'new' }, { odd: 1 }] })
  const fine = await run('check', [upstream('one'), model('local/a', 'one')])
  expect(fine).toMatchObject({
    ok: true,
    lines: ['one: serves 2 models', 'one: not in the catalog: new'],
  })
  const rows = [
    upstream('one'),
    upstream('two', 'sk-wrong'),
    model('local/a', 'one'),
    model('local/old', 'one'),
    model('local/free', 'one', ''),
  ]
  const bad = await run('check', rows)
  expect(bad).toMatchObject({
    ok: false,
    lines: [
      'one: serves 2 models',
      'one: not in the catalog: new',
      'one: no longer served: local/free, local/old',
      'two: no response: status 401',
      'unpriced: local/free',
    ],
    data: {
      ok: false,
      upstreams: [
        {
          name: 'one',
          serves: 2,
          unknown: ['new'],
          gone: ['local/free', 'local/old'],
          problem: null,
        },
        { name: 'two', serves: null, unknown: [], gone: [], problem: 'status 401' },
      ],
      unpriced: ['local/free'],
    },
  })
  expect((await run('check', [upstream('three')])).lines).toEqual([
    'three: no response: status 404',
  ])
  expect((await run('check')).lines).toEqual(['No upstream is configured.'])
})

const key = { OPENAI_API_KEY: 'sk-fake' }
const modelsDev = (input: number) => ({
  openai: {
    models: {
      'gpt-next': {
        name: 'GPT Next',
        tool_call: true,
        modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
        cost: {
          input,
          output: 12.5,
          cache_read: 0.125,
          context_over_200k: { input: 4, output: 20 },
        },
        limit: { context: 400_000, output: 64_000 },
      },
      'gpt-4.1': { modalities: { output: ['text'] }, cost: { input: 200, output: 800 } },
      'gpt-gift': { modalities: { output: ['text'] }, cost: { input: 0, output: 0 } },
      'gpt-paint': { modalities: { output: ['image'] }, cost: { input: 1, output: 1 } },
    },
  },
  elsewhere: { models: { x: { cost: { input: 1, output: 1 } } } },
})
const liteLlm = {
  sample_spec: { litellm_provider: 'one of those', mode: 'one of those' },
  'gpt-next': { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 1 },
  'openai/gpt-small': {
    litellm_provider: 'openai',
    mode: 'chat',
    max_input_tokens: 9_000,
    supports_vision: true,
    input_cost_per_token: 3.75e-8,
    output_cost_per_token: 1.5e-7,
    max_output_tokens: 900,
  },
  'dall-e-3': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_pixel: 1 },
}

test('sync stores and serves listed prices, except suspect ones', async () => {
  pages.set('/dev', modelsDev(1.25)).set('/lite', liteLlm)
  const words = `sync ${at('/dev')} ${at('/lite')} ${at('/gone')}`
  const { ok, lines, data, config } = await run(words, [], key)
  const suspect = [expect.stringContaining('gpt-4.1'), expect.stringContaining('gpt-gift')]
  expect({ ok, lines, data }).toEqual({
    ok: false,
    data: { stored: 2, suspect },
    lines: [
      `${at('/dev')}: 3`,
      `${at('/lite')}: 2`,
      `${at('/gone')}: no response: status 404`,
      '2 models were stored. A running server reads them at its next start.',
      'openai: gpt-4.1: the prompt price changes more than 10 times',
      'openai: gpt-gift: the price is 0',
      '2 were not stored. To store them too: berth models sync --yes',
    ],
  })
  const served = async (id: string) => {
    const log = openLog(systemClock, () => undefined)
    const { catalog } = await openModels(config, { clock: systemClock, log })
    const found = catalog.find(id)?.model
    return found && { ...found, price: found.price && presentPrice(found.price) }
  }
  expect(await served('openai/gpt-next')).toMatchObject({
    name: 'GPT Next',
    inputs: ['text', 'image', 'file'],
    supportsTools: true,
    contextLength: 400_000,
    maxOutput: 64_000,
    price: {
      prompt: '0.00000125',
      completion: '0.0000125',
      cache_read: '0.000000125',
      tiers: [{ above: 200_000, prompt: '0.000004', completion: '0.00002' }],
    },
  })
  expect(await served('openai/gpt-small')).toMatchObject({
    contextLength: 9_000,
    maxOutput: 900,
    inputs: ['text', 'image'],
    price: { prompt: '0.0000000375', completion: '0.00000015' },
  })
  expect(await served('openai/gpt-4.1')).toMatchObject({ price: { prompt: '0.000002' } })
  expect(await served('openai/gpt-gift')).toBeUndefined()
  expect((await run(`${words} --yes`, [], key)).ok).toBe(true)
  expect(await served('openai/gpt-4.1')).toMatchObject({ price: { prompt: '0.0002' } })
  pages.set('/dev', modelsDev(99))
  expect((await run(`sync ${at('/dev')}`, [], key)).lines).toContain(
    'openai: gpt-next: the prompt price changes more than 10 times',
  )
  expect(await served('openai/gpt-next')).toMatchObject({ price: { prompt: '0.00000125' } })
})

test('sync stores nothing without a key or without a response', async () => {
  expect(await run('sync')).toMatchObject({
    ok: false,
    lines: [expect.stringContaining('No API key of a provider')],
  })
  const gone = await run(`sync ${at('/gone')}`, [], key)
  expect([gone.ok, gone.lines.at(-1)]).toEqual([false, 'Nothing was stored.'])
  expect(await Bun.file(join(dataDir, 'models.json')).exists()).toBe(false)
})

test('a stored price list that is not JSON is reported by its path', async () => {
  await Bun.write(join(dataDir, 'models.json'), '[{')
  await expect(run('list')).rejects.toThrow(/^models\.json in the data folder is damaged/)
})
