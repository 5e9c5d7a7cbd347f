import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ConfigError, loadConfig } from './load.ts'

function load(toml: string, environment: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-config-'))
  writeFileSync(join(dataDir, 'berth.toml'), toml)
  return loadConfig({}, { DATA_DIR: dataDir, ...environment })
}

function problemsOf(toml: string, environment?: Record<string, string>): string[] {
  try {
    load(toml, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
  }
  return []
}

const local =
  '[[upstream]]\nname = "local"\nkind = "openai"\nbase_url = "http://127.0.0.1:8080/v1/"\n'
const small = '[[model]]\nid = "local/small"\nupstream = "local"\ntype = "chat"\n'

test('upstreams and models are read from their tables', () => {
  const config = load(
    `port = 1\n${local}api_key_env = "LOCAL_KEY"\n${small}upstream_model = "small-q4"\n` +
      'inputs = ["text", "image"]\nsupports_tools = true\ncontext_length = 32768\n' +
      'price = { prompt = "0.0000000375", completion = "0.00000015" }\n',
    { LOCAL_KEY: 'hush' },
  )
  expect(config.port).toBe(1)
  expect(config.upstreams).toEqual([
    { name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'hush' },
  ])
  expect(config.models).toEqual([
    {
      id: 'local/small',
      upstreams: ['local'],
      upstreamModel: 'small-q4',
      type: 'chat',
      inputs: ['text', 'image'],
      supportsTools: true,
      contextLength: 32_768,
      price: { prompt: '0.0000000375', completion: '0.00000015' },
    },
  ])
})

test('the balance of a model has a weight for each upstream', () => {
  const other = local.replace('"local"', '"other"')
  const model = small.replace('upstream = "local"', 'upstream = ["local", "other"]')
  const balanced = `${local}${other}${model}balance = "weights"\nweights = [3, 1]\nretries = 2\n`
  expect(load(balanced).models).toMatchObject([{ balance: 'weights', weights: [3, 1], retries: 2 }])
  for (const [toml, problem] of [
    [balanced.replace('[3, 1]', '[3]'), 'one number for each upstream'],
    [balanced.replace('balance = "weights"\n', ''), 'need balance = "weights"'],
    [balanced.replace('"weights"', '"luck"'), 'balance'],
    [balanced.replace('retries = 2', 'retries = 9'), 'retries'],
  ] as const) {
    expect(problemsOf(toml)).toEqual([expect.stringContaining(problem)])
  }
})

test('all problems of a table are reported at once, one per field', () => {
  const problems = problemsOf('[[upstream]]\nnam = "q"\nkind = "zzz"\nbase_url = 3\n')
  expect(problems.map((problem) => problem.split(' ')[3]).sort()).toEqual([
    'base_url',
    'kind',
    'nam',
    'name',
  ])
})

test('every kind but openai has a default base_url', () => {
  const row = (kind: string) => `[[upstream]]\nname = "mine"\nkind = "${kind}"\napi_key = "k"\n`
  expect(load(row('anthropic')).upstreams).toEqual([
    { name: 'mine', kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', apiKey: 'k' },
  ])
  const moved = load(`${row('fal')}base_url = "https://fal.example/v1/"\n`).upstreams
  expect(moved[0]).toMatchObject({ kind: 'fal', baseUrl: 'https://fal.example/v1' })
  expect(problemsOf(row('openai'))).toEqual([
    '[[upstream]] mine: the kind openai needs a base_url.',
  ])
  expect(problemsOf(row('other'))[0]).toContain('kind')
})

test('a model may name a provider with a key or a built-in upstream', () => {
  const models = `${small.replace('"local"', '["groq", "ollama", "demo"]')}`
  expect(load(models, { GROQ_API_KEY: 'k' }).models[0]?.upstreams).toHaveLength(3)
  expect(problemsOf(models)[0]).toContain('no upstream "groq"')
})

test('a missing API key is reported only to commands that call upstreams', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-config-'))
  const toml = `${local}api_key_env = "LOCAL_KEY"\n${small.replace('"local"', '["local", "groq"]')}`
  writeFileSync(join(dataDir, 'berth.toml'), toml)
  expect(problemsOf(toml)).toHaveLength(2)
  const config = loadConfig({}, { DATA_DIR: dataDir }, false)
  expect(config.upstreams[0]).not.toHaveProperty('apiKey')
  expect(config.models[0]?.upstreams).toEqual(['local', 'groq'])
})

test('problems of tables and settings are reported together', () => {
  const problems = problemsOf(
    `port = "x"\n${local}colour = "red"\n${local}api_key = "a"\napi_key_env = "B"\n` +
      `${local.replace('local', 'openai')}api_key_env = "NOT_SET"\n` +
      `${small}price = { prompt = 0.1 }\n${small}${small}`,
  )
  for (const message of [
    'PORT (berth.toml)',
    '[[upstream]] number 1: colour',
    'not both',
    'NOT_SET is not set',
    'openai: the name is already taken',
    '[[model]] number 1: price/prompt',
    'the id is used twice',
  ]) {
    expect(problems.join('\n')).toContain(message)
  }
  expect(problems).toHaveLength(7)
})

test('an invalid field is reported with the expected value', () => {
  const problems = problemsOf(
    `${local.replace('"openai"', '"opnai"').replace('http://', '')}` +
      `${small.replace('"chat"', '"chatt"').replace('id =', 'idd =')}price = { prompt = 0.1 }`,
  )
  for (const message of [
    'kind must be one of openai, anthropic, google,',
    'base_url must be an http:// or https:// address.',
    'type must be one of chat, image, video, audio, embedding, moderation, rerank, realtime.',
    'id is missing: it must be a string',
    'idd is not a field of this table.',
    'price/prompt must be USD as text, such as "0.00000015".',
  ]) {
    expect(problems.join('\n')).toContain(message)
  }
})

test('scalars in place of tables and imprecise prices are rejected', () => {
  expect(problemsOf('upstream = "local"')[0]).toContain('written as [[upstream]]')
  const many = `${local}${small}price = { prompt = "0.${'1'.repeat(16)}", completion = "0" }`
  expect(problemsOf(many)[0]).toContain('price/prompt')
})

test("a provider's key is never displayed", () => {
  const { rows } = load('', { OPENAI_API_KEY: 'hush' })
  expect(JSON.stringify(rows)).not.toContain('hush')
})

test('OLLAMA_HOST accepts off and short addresses', () => {
  expect(load('ollama_host = "off"').ollamaHost).toBe('')
  expect(load('', { OLLAMA_HOST: 'http://10.0.0.2:11434/' }).ollamaHost).toBe(
    'http://10.0.0.2:11434',
  )
  expect(load('', { OLLAMA_HOST: '10.0.0.3' }).ollamaHost).toBe('http://10.0.0.3:11434')
  expect(load('', { OLLAMA_HOST: '10.0.0.3:80' }).ollamaHost).toBe('http://10.0.0.3')
  expect(problemsOf('', { OLLAMA_HOST: '' })[0]).toContain('OLLAMA_HOST')
})

test('an upstream may have free fields and the Responses API, if its API is OpenAI’s', () => {
  const fields = 'free_fields = ["zebra"]\nresponses = true\n'
  expect(load(local + fields).upstreams).toMatchObject([{ freeFields: ['zebra'], responses: true }])
  const other = '[[upstream]]\nname = "mine"\nkind = "fal"\napi_key = "k"\n'
  expect(problemsOf(other + fields)).toEqual([
    '[[upstream]] mine: free_fields needs the kind openai.',
    '[[upstream]] mine: responses needs the kind openai.',
  ])
})
