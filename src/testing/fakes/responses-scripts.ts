import type { Json } from '../../kernel/schema.ts'
import {
  bytes,
  chunked,
  cut,
  deep,
  end,
  fakeText,
  fakeUsage,
  json,
  type Script,
  scripts,
  type Step,
} from './chat-scripts.ts'

const fakeResponse = {
  id: 'resp_fake',
  object: 'response',
  created_at: 1,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  model: 'fake',
  output: [],
  usage: null,
  store: false,
}

/** Renames the fields of a chat's usage. */
const toUsage = (usage: Json | null | undefined) =>
  usage && {
    ...usage,
    prompt_tokens: undefined,
    completion_tokens: undefined,
    prompt_tokens_details: undefined,
    completion_tokens_details: undefined,
    input_tokens: usage.prompt_tokens,
    input_tokens_details: usage.prompt_tokens_details,
    output_tokens: usage.completion_tokens,
    output_tokens_details: usage.completion_tokens_details,
  }

const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
const message = (text: string, status = 'completed') => ({
  id: 'msg_fake',
  type: 'message',
  status,
  role: 'assistant',
  content: text === '' ? [] : [part(text)],
})

const whole = (usage: Json | null | undefined, output: unknown[], more: object = {}) => ({
  ...fakeResponse,
  status: 'completed',
  output,
  usage: toUsage(usage),
  ...more,
})

/** Returns the bytes of events, whose names are their types, with their numbers. */
const encode = (events: Json[], lineEnd = '\n'): string[] =>
  events.map((event, at) => {
    const data = JSON.stringify({ ...event, sequence_number: at })
    return `event: ${String(event.type)}${lineEnd}data: ${data}${lineEnd}${lineEnd}`
  })

const place = { item_id: 'msg_fake', output_index: 0, content_index: 0 }
const textEvents = (words: string[]): Json[] => [
  ...['created', 'in_progress'].map((type) => ({
    type: `response.${type}`,
    response: fakeResponse,
  })),
  { type: 'response.output_item.added', output_index: 0, item: message('', 'in_progress') },
  { type: 'response.content_part.added', ...place, part: part('') },
  ...words.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
]
const text = fakeText.join('')
const half = textEvents(fakeText.slice(0, 3))
const finish = (response: object, item = message(text)): Json[] => [
  { type: 'response.output_text.done', ...place, text },
  { type: 'response.content_part.done', ...place, part: part(text) },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.completed', response },
]

const answered = (usage: Json | null | undefined): Json[] => [
  ...textEvents(fakeText),
  ...finish(whole(usage, [message(text)])),
]
const used = (usage: Json | null | undefined): Script => ({
  plain: json(200, whole(usage, [message(text)])),
  stream: chunked(encode(answered(usage))),
})
const ok = used(fakeUsage)
const streamed = (pieces: (string | Uint8Array)[], last?: Step[]): Script => ({
  plain: ok.plain,
  stream: chunked(pieces, last),
})

/** Bytes that are no response of any API. */
const plainOf = (name: string): Step[] => scripts[name]?.plain ?? []

const filtered = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
const declined = whole(fakeUsage, [message('')], filtered)
const silent = whole(fakeUsage, [{ id: 'rs_fake', type: 'reasoning', summary: [] }])
const unfinished = JSON.stringify(whole(fakeUsage, [message(text)]))
const broken = { code: 'server_error', message: 'Broken.' }
const failed = { ...fakeResponse, status: 'failed', error: broken }
const complete = answered(fakeUsage)

/** Scripts of the Responses API by the model's name, where they differ from those of a chat. */
export const responsesScripts: Record<string, Script> = {
  ok,
  'ok-crlf': streamed(encode(complete, '\r\n')),
  'ok-cr': streamed(encode(complete, '\r')),
  'ok-comments': streamed([
    ': waiting\n\n',
    ...encode(complete).flatMap((one) => [': still\n', one]),
  ]),
  'ok-split-utf8': streamed(bytes(encode(complete))),
  'ok-one-piece': streamed([encode(complete).join('')]),
  // vLLM and OpenRouter end the stream like a chat.
  'ok-done-twice': streamed([...encode(complete), 'data: [DONE]\n\n']),
  'ok-unstreamed': ok,
  'filter-unstreamed': { plain: json(200, declined), stream: [] },
  'content-filter-finish': {
    plain: json(200, declined),
    stream: chunked(encode([...half, { type: 'response.incomplete', response: declined }])),
  },
  'no-choices': { plain: json(200, whole(fakeUsage, [])), stream: [] },
  'no-content': {
    plain: json(200, silent),
    stream: chunked(encode([...textEvents([]), { type: 'response.completed', response: silent }])),
  },
  'bad-json': {
    plain: plainOf('bad-json'),
    stream: chunked([...encode(half), 'data: {"id": \n\n']),
  },
  truncated: { plain: cut(end, unfinished), stream: chunked(encode(half), [end]) },
  'reset-middle': {
    plain: cut({ do: 'reset' }, unfinished),
    // As in chat-scripts.ts for `reset-middle`.
    stream: chunked(encode(half), [{ waitMs: 300 }, { do: 'reset' }]),
  },
  'hang-middle': {
    plain: cut({ do: 'hang' }, unfinished),
    stream: chunked(encode(half), [{ do: 'hang' }]),
  },
  'no-done': streamed(encode(complete.slice(0, -1))),
  deep: {
    plain: plainOf('deep'),
    stream: chunked([...encode(half), `data: ${deep({ type: 'response.output_text.delta' })}\n\n`]),
  },
  'error-event': streamed(encode([...half, { type: 'error', ...broken, param: null }])),
  'error-first': streamed(
    encode([...textEvents([]), { type: 'response.failed', response: failed }]),
  ),
  'error-unstreamed': { plain: json(200, failed), stream: json(200, failed) },
  'usage-cost': used({ ...fakeUsage, cost: 0.5, cost_details: { upstream_inference_cost: 0.4 } }),
  'usage-missing': used(undefined),
  'usage-null': used(null),
  'usage-negative': used({ prompt_tokens: -11, completion_tokens: 7, total_tokens: -4 }),
  'usage-float': used({ prompt_tokens: 10.5, completion_tokens: 6.2, total_tokens: 16.7 }),
  'usage-text': used({ prompt_tokens: '11', completion_tokens: 'seven' }),
  'usage-overflow': used({ prompt_tokens: 1e300, completion_tokens: 2 ** 60, total_tokens: 1e300 }),
  'usage-zero': used({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
}
