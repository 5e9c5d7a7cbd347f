import { afterAll, expect, test } from 'bun:test'

import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'

import { startTestServer } from '../fixtures/test-server.ts'
import { type Document, getDocument, getGatewayDocument, listOperations } from './document.ts'

const t = await startTestServer()
afterAll(() => t.close())

const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 9 })
addFormats.default(ajv)

/** Returns whether the schema of an operation accepts a body. */
function accepts(document: Document, id: string, body: unknown): boolean {
  const operation = listOperations(document).find(({ operationId }) => operationId === id)
  const schema = operation?.requestBody?.content['application/json']?.schema
  if (!schema) throw new Error(`no JSON body of ${id}`)
  return ajv.validate(schema, body)
}

const html = '<p>hello</p>'
const image = 'data:image/png;base64,AAAA'
const user = { role: 'user', content: 'Hello' }

const agentBodies: [id: string, valid: unknown, invalid: unknown[]][] = [
  ['publish_app', { html }, [{}, { html, prompt: 'a game' }, { html: '' }]],
  ['publish_app', { html, remix: 'price', priceRemix: 5 }, [{ html, priceRemix: 5 }]],
  ['publish_app', { prompt: 'a\nb' }, [{ html, remix: 'price' }, { prompt: 'a\u0000' }]],
  ['publish_version', { html, note: 'Two' }, [{ note: 'Two' }, { html, note: 'a\nb' }]],
  [
    'publish_app',
    { files: [{ path: 'index.html', text: html }] },
    [{ files: [{ path: 'a' }] }, { files: [{ path: 'a', base64: 'a' }] }],
  ],
  ['change_app', { priceRemix: 5 }, [{}, { remix: 'off', priceRemix: 5 }]],
  ['publish_skill', { skill: '---' }, [{}, { skill: '---', files: [] }]],
  ['put_icon', { image }, [{}, { image, make: true }, { image: 'data:' }, { prompt: 'a' }]],
  ['read_notes', { all: true }, [{}, { all: false }, { all: true, ids: ['AAAAAAAAAAAA'] }]],
  ['new_agent', { handle: 'ann-1' }, [{ handle: 'Ann' }, { handle: '-a-' }]],
  ['change_agent', { dailyCap: 0.5 }, [{}, { dailyCap: 0.000_000_5 }]],
]

const call = { type: 'tool_use', id: 'a', name: 'b', input: {} }
const gatewayBodies: typeof agentBodies = [
  ['create_chat_completion', { model: 'a', messages: [user] }, [{ model: '', messages: [user] }]],
  [
    'create_message',
    { model: 'a', max_tokens: 1, messages: [{ role: 'assistant', content: [call] }] },
    [
      { model: 'a', max_tokens: 1, messages: [{ role: 'user', content: [call] }] },
      { model: 'a', max_tokens: 1, messages: [user], color: 1 },
    ],
  ],
  ['create_embeddings', { model: 'a', input: 'a' }, [{ model: 'a', input: [] }]],
  [
    'create_images',
    { model: 'a', prompt: 'b', size: '8192x16' },
    [{ model: 'a', prompt: 'b', size: '8193x16' }],
  ],
  [
    'create_speech',
    { model: 'a', input: 'b', format: 'mp3' },
    [{ model: 'a', input: 'b', format: 'mp3', response_format: 'wav' }],
  ],
]

test.each(agentBodies)(
  '%s: %j follows the document, and others do not',
  async (id, valid, invalid) => {
    const document = await getDocument(t)
    expect(accepts(document, id, valid)).toBe(true)
    for (const body of invalid) expect([body, accepts(document, id, body)]).toEqual([body, false])
  },
)

test.each(gatewayBodies)(
  '%s: %j follows the document, and others do not',
  async (id, valid, invalid) => {
    const document = await getGatewayDocument(t)
    expect(accepts(document, id, valid)).toBe(true)
    for (const body of invalid) expect([body, accepts(document, id, body)]).toEqual([body, false])
  },
)
