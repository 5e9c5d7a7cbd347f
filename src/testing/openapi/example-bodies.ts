/** Bodies of operations that parse them by hand, whose schemas say little about what is inside. */
import { isRecord, type Json } from '../../kernel/schema.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import type { TestResponse, TestServer } from '../fixtures/test-server.ts'
import { ownedNames } from './hostile.ts'

const tool = {
  type: 'function',
  function: { name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
}
const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
const pixels = 'data:image/png;base64,iVBORw0KGgo='

const chat = {
  model: 'demo/chat',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: '2' },
    { role: 'user', content: 'Hello' },
  ],
  max_tokens: 20,
  n: 1,
  temperature: 0.5,
  stop: ['###'],
  stream: false,
  stream_options: { include_usage: true },
  tools: [tool],
  tool_choice: 'auto',
  response_format: { type: 'text' },
  logit_bias: { '1': 1 },
  metadata: { a: 'b' },
  provider: { order: ['demo'], allow_fallbacks: true },
  reasoning_effort: 'low',
}

const messages = {
  model: 'demo/chat',
  max_tokens: 20,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'tool_1', name: 'add', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tool_1', content: '2' }] },
  ],
  tools: [{ name: 'add', input_schema: { type: 'object' } }],
  tool_choice: { type: 'auto' },
  thinking: { type: 'disabled' },
  metadata: { user_id: 'ann' },
  stop_sequences: ['###'],
  stream: false,
}

const image = { model: 'demo/image', prompt: 'a boat', size: '256x256', n: 1 }
const rerank = { model: 'demo/rerank', query: 'boats', documents: ['a boat', 'a tree'], top_n: 1 }

/** Valid bodies by operationId. */
export const exampleBodies = new Map<string, Json>([
  ['create_chat_completion', chat],
  ['create_openrouter_chat', chat],
  [
    'create_completion',
    { model: 'demo/chat', prompt: 'Hello', suffix: '.', echo: true, max_tokens: 5, stop: ['###'] },
  ],
  [
    'create_response',
    {
      model: 'demo/chat',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
        { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '2' },
      ],
      tools: [{ type: 'function', name: 'add', parameters: { type: 'object' } }],
      tool_choice: 'auto',
      text: { format: { type: 'text' } },
      reasoning: { effort: 'low' },
      max_output_tokens: 20,
      metadata: { a: 'b' },
      include: [],
      store: false,
    },
  ],
  ['create_message', messages],
  ['count_message_tokens', messages],
  [
    'call_gemini_method',
    {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Hello' }],
        },
        { role: 'model', parts: [{ functionCall: { name: 'add', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'add', response: { a: 1 } } }] },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'add', parameters: { type: 'OBJECT', properties: { a: { type: 'NUMBER' } } } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      generationConfig: { maxOutputTokens: 20, temperature: 1, stopSequences: ['###'] },
    },
  ],
  [
    'create_cohere_chat',
    {
      model: 'demo/chat',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
      documents: [{ id: 'a', data: { text: 'A boat.' } }],
      response_format: { type: 'text' },
      thinking: { type: 'disabled' },
      tools: [],
      tool_choice: 'NONE',
      max_tokens: 20,
      p: 0.5,
    },
  ],
  ['cohere_rerank', rerank],
  ['rerank', rerank],
  ['create_embeddings', { model: 'demo/embedding', input: ['a boat'], dimensions: 8 }],
  ['create_moderation', { model: 'demo/moderation', input: [{ type: 'text', text: 'Hello' }] }],
  ['create_images', { ...image, response_format: 'url', seed: 1, image_url: pixels }],
  ['create_video', { model: 'demo/video', prompt: 'a boat', seconds: '4', size: '320x180' }],
  [
    'create_speech',
    { model: 'demo/speech', input: 'Hello', voice: 'alloy', response_format: 'mp3', speed: 1 },
  ],
])

/** A form with a file: for an upload, or for a model. */
interface Form {
  path: string
  /** The name of the field of the file. */
  field: string
  file: string | Uint8Array<ArrayBuffer>
  fileName: string
  fields: [name: string, value: string][]
}

/** Returns the name of the file's field in the form of an operation; undefined without a form. */
export function fileFieldOf({ requestBody }: DescribedOperation): string | undefined {
  const { schema } = requestBody?.content['multipart/form-data'] ?? {}
  if (!schema) return undefined
  const { properties } = schema
  return isRecord(properties) && 'image' in properties ? 'image' : 'file'
}

/** Fields that are looked up, parsed or forwarded. */
const names =
  'model purpose prompt size n quality voice language response_format stream expires_after seconds'

/** The fields of forms with the names of every object, as fields and as values. */
export const hostileFields: Form['fields'][] = [
  ...ownedNames.map((name): Form['fields'] => [[name, name]]),
  ...names
    .split(' ')
    .flatMap((field) =>
      [...ownedNames, '{"toString":1,"valueOf":1}', '1e999', '\0', ''].map(
        (value): Form['fields'] => [[field, value]],
      ),
    ),
]

/** Sends a form to an operation of the gateway. */
export async function sendForm(server: TestServer, key: string, sent: Form): Promise<TestResponse> {
  const form = new FormData()
  form.append(sent.field, new File([sent.file], sent.fileName))
  for (const [name, value] of sent.fields) form.append(name, value)
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  return server.request('POST', sent.path, { key, headers, body: await request.bytes() })
}
