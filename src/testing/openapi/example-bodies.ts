/** Bodies of operations that parse them by hand, whose schemas say little about what is inside. */
import type { Json } from '../../core/schema.ts'

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
