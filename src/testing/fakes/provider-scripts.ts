import { chunked, end, head, json, send, type Step } from './chat-scripts.ts'

/** Token usage of the fake Anthropic. `input_tokens` excludes cached tokens. */
const claudeUsage = {
  input_tokens: 5,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 2,
  output_tokens: 7,
}

export const claudeText = ['Hello', ' wörld', ' 👋.']

const start = {
  type: 'message_start',
  message: {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model: 'fake',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...claudeUsage, output_tokens: 1 },
  },
}

const event = (data: { type: string; [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const text = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
})

const ended = (reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null },
  usage: { output_tokens: 7 },
})

const opened = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
const begun = [event(start), event(opened), ...claudeText.map((word) => event(text(word)))]
const closed = [event({ type: 'content_block_stop', index: 0 })]
const over = (reason: string): string[] => [
  ...closed,
  event(ended(reason)),
  event({ type: 'message_stop' }),
]

const overloaded = event({
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded' },
})

const whole = (reason: string, content: unknown[], usage: unknown = claudeUsage): Step[] =>
  json(200, { ...start.message, content, stop_reason: reason, usage })

const failure = (status: number, type: string, message: string): Step[] =>
  json(status, { type: 'error', error: { type, message } })

const contentBlocks = [{ type: 'text', text: claudeText.join('') }]
const unfinished = JSON.stringify({ ...start.message, content: contentBlocks })

/** Scripts of a fake Anthropic by the model's name, for plain requests and for streams. */
export const claudeScripts: Record<string, { plain: Step[]; stream: Step[] }> = {
  'claude-ok': {
    plain: whole('end_turn', contentBlocks),
    stream: chunked([...begun, ...over('end_turn')]),
  },
  'claude-usage-null': { plain: whole('end_turn', contentBlocks, null), stream: [] },
  'claude-usage-text': {
    plain: whole('end_turn', contentBlocks, { input_tokens: 'five' }),
    stream: [],
  },
  'claude-429': both(failure(429, 'rate_limit_error', 'Too many.'), 'retry-after: 7'),
  'claude-529': both(failure(529, 'overloaded_error', 'Overloaded')),
  'claude-401': both(failure(401, 'authentication_error', 'invalid x-api-key KEY')),
  'claude-poor': both(
    failure(400, 'invalid_request_error', 'Your credit balance is too low to access the API.'),
  ),
  'claude-400': both(failure(400, 'invalid_request_error', 'messages: wrong')),
  'claude-404': both(failure(404, 'not_found_error', 'model: fake')),
  'claude-filter': both(
    failure(400, 'invalid_request_error', 'Output blocked by content filtering policy'),
  ),
  'claude-refusal': {
    plain: whole('refusal', []),
    stream: chunked([event(start), ...over('refusal').slice(1)]),
  },
  'claude-cut': { plain: cut(end), stream: chunked(begun, [{ waitMs: 20 }, end]) },
  'claude-reset': {
    plain: cut({ do: 'reset' }),
    // As in chat-scripts.ts for `reset-middle`.
    stream: chunked(begun, [{ waitMs: 300 }, { do: 'reset' }]),
  },
  'claude-hang': { plain: cut({ do: 'hang' }), stream: chunked(begun, [{ do: 'hang' }]) },
  'claude-error': { plain: [], stream: chunked([...begun, overloaded]) },
  'claude-error-first': { plain: [], stream: chunked([overloaded]) },
  'claude-bad-json': { plain: [], stream: chunked([...begun, 'data: {"type": \n\n']) },
  'claude-unknown-event': {
    plain: [],
    stream: chunked([...begun, event({ type: 'new_thing' }), ...over('end_turn')]),
  },
}

/** Scripts of a fake Cohere. */
export const cohereScripts: Record<string, { plain: Step[]; stream: Step[] }> = {
  'cohere-usage-missing': {
    plain: json(200, {
      message: { role: 'assistant', content: contentBlocks },
      finish_reason: 'COMPLETE',
    }),
    stream: [],
  },
}

function both(steps: Step[], header = ''): { plain: Step[]; stream: Step[] } {
  const [first, ...rest] = steps
  const rawText = first && 'send' in first ? String(first.send) : ''
  const more = header ? rawText.replace('\r\n', `\r\n${header}\r\n`) : rawText
  return { plain: [send(more), ...rest], stream: [send(more), ...rest] }
}

/** Half of a response. */
function cut(last: Step): Step[] {
  const length = `content-length: ${unfinished.length + 9}\r\n`
  return [send(`${head(200, 'application/json', length)}\r\n`), send(unfinished.slice(0, 60)), last]
}
