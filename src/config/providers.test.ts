import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ConfigFaults, loadConfig } from './load.ts'

function load(toml: string, environment: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-config-'))
  writeFileSync(join(dataDir, 'berth.toml'), toml)
  return loadConfig({}, { DATA_DIR: dataDir, ...environment })
}

function faultsOf(toml: string, environment?: Record<string, string>): string[] {
  try {
    load(toml, environment)
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults
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

test('every fault of a table is told at once, each field once', () => {
  const faults = faultsOf('[[upstream]]\nnam = "q"\nkind = "zzz"\nbase_url = 3\n')
  expect(faults.map((fault) => fault.split(' ')[3]).sort()).toEqual([
    'base_url',
    'kind',
    'nam',
    'name',
  ])
})

test('a kind of provider other than openai knows its own base_url', () => {
  const row = (kind: string) => `[[upstream]]\nname = "mine"\nkind = "${kind}"\napi_key = "k"\n`
  expect(load(row('anthropic')).upstreams).toEqual([
    { name: 'mine', kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', apiKey: 'k' },
  ])
  const moved = load(`${row('fal')}base_url = "https://fal.example/v1/"\n`).upstreams
  expect(moved[0]).toMatchObject({ kind: 'fal', baseUrl: 'https://fal.example/v1' })
  expect(faultsOf(row('openai'))).toEqual(['[[upstream]] mine: the kind openai needs a base_url.'])
  expect(faultsOf(row('other'))[0]).toContain('kind')
})

test('a model may name a provider that has a key, or what is built in', () => {
  const models = `${small.replace('"local"', '["groq", "ollama", "demo"]')}`
  expect(load(models, { GROQ_API_KEY: 'k' }).models[0]?.upstreams).toHaveLength(3)
  expect(faultsOf(models)[0]).toContain('no upstream "groq"')
})

test('a key that is not in this shell is a fault only for who asks its upstream', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-config-'))
  const toml = `${local}api_key_env = "LOCAL_KEY"\n${small.replace('"local"', '["local", "groq"]')}`
  writeFileSync(join(dataDir, 'berth.toml'), toml)
  expect(faultsOf(toml)).toHaveLength(2)
  const config = loadConfig({}, { DATA_DIR: dataDir }, false)
  expect(config.upstreams[0]).not.toHaveProperty('apiKey')
  expect(config.models[0]?.upstreams).toEqual(['local', 'groq'])
})

test('all faults of the tables are told at once, with those of the settings', () => {
  const faults = faultsOf(
    `port = "x"\n${local}colour = "red"\n${local}api_key = "a"\napi_key_env = "B"\n` +
      `${local.replace('local', 'openai')}api_key_env = "NOT_SET"\n` +
      `${small}price = { prompt = 0.1 }\n${small}${small}`,
  )
  for (const said of [
    'PORT (berth.toml)',
    '[[upstream]] number 1: colour',
    'not both',
    'NOT_SET is not set',
    'openai: the name is taken',
    '[[model]] number 1: price/prompt',
    'there are two of them',
  ]) {
    expect(faults.join('\n')).toContain(said)
  }
  expect(faults).toHaveLength(7)
})

test('a field that does not fit is told with what fits', () => {
  const faults = faultsOf(
    `${local.replace('"openai"', '"opnai"').replace('http://', '')}` +
      `${small.replace('"chat"', '"chatt"').replace('id =', 'idd =')}price = { prompt = 0.1 }`,
  )
  for (const said of [
    'kind must be one of openai, anthropic, google,',
    'base_url must be an http:// or https:// address.',
    'type must be one of chat, image, video, audio, embedding.',
    'id is missing: it must be a string',
    'idd is no field of it.',
    'price/prompt must be USD as text, such as "0.00000015".',
  ]) {
    expect(faults.join('\n')).toContain(said)
  }
})

test('tables that are no tables, and prices that lose digits, are refused', () => {
  expect(faultsOf('upstream = "local"')[0]).toContain('written as [[upstream]]')
  const many = `${local}${small}price = { prompt = "0.${'1'.repeat(16)}", completion = "0" }`
  expect(faultsOf(many)[0]).toContain('price/prompt')
})

test("a provider's key is never shown", () => {
  const { rows } = load('', { OPENAI_API_KEY: 'hush' })
  expect(JSON.stringify(rows)).not.toContain('hush')
})

test('an Ollama can be turned off, or stand elsewhere', () => {
  expect(load('ollama_host = "off"').ollamaHost).toBe('')
  expect(load('', { OLLAMA_HOST: 'http://10.0.0.2:11434/' }).ollamaHost).toBe(
    'http://10.0.0.2:11434',
  )
  expect(load('', { OLLAMA_HOST: '10.0.0.3' }).ollamaHost).toBe('http://10.0.0.3:11434')
  expect(load('', { OLLAMA_HOST: '10.0.0.3:80' }).ollamaHost).toBe('http://10.0.0.3')
  expect(faultsOf('', { OLLAMA_HOST: '' })[0]).toContain('OLLAMA_HOST')
})
