import { chunked, end, fakeText, json, scripts, send, type Step } from './chat-scripts.ts'

/** The format of a provider that gets native requests. */
interface Format {
  whole(text: string, usage?: unknown): object
  /** The events before the text, and those of the text. */
  begun: string[]
  words: string[]
  /** The events after the text. */
  over(usage?: unknown): string[]
  usage: unknown
  wrongUsage: unknown
  /** An event that ends a stream with an error, and one that ends it with a block. */
  error: string
  blocked?: string[]
  error400(message: string): object
}

type Script = { plain: Step[]; stream: Step[] }

/** Google separates lines with CRLF. */
const googleEvent = (response: object): string => `data: ${JSON.stringify(response)}\r\n\r\n`
const candidate = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
  modelVersion: 'fake',
})
const googleUsage = {
  promptTokenCount: 11,
  cachedContentTokenCount: 4,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  totalTokenCount: 18,
}
const early = { usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 } }
const withUsage = (usage: unknown) => (usage === undefined ? {} : { usageMetadata: usage })

const google: Format = {
  whole: (text, usage) => ({ ...candidate(text, { finishReason: 'STOP' }), ...withUsage(usage) }),
  begun: [],
  words: fakeText.map((word) => googleEvent(candidate(word))),
  over: (usage) => [
    googleEvent({ ...candidate('', { finishReason: 'STOP' }), ...withUsage(usage) }),
  ],
  usage: googleUsage,
  wrongUsage: { promptTokenCount: 'eleven', candidatesTokenCount: 7 },
  error: googleEvent({ error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }),
  blocked: [
    googleEvent({ ...candidate('Hello', {}), ...early }),
    googleEvent({ ...candidate('', { finishReason: 'SAFETY' }), usageMetadata: googleUsage }),
  ],
  error400: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
}

const cohereEvent = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
const ended = (delta: object): string[] => [
  cohereEvent({ type: 'content-end', index: 0 }),
  cohereEvent({ type: 'message-end', id: 'fake', delta }),
]

const cohere: Format = {
  whole: (text, usage) => ({
    id: 'fake',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    usage,
  }),
  begun: [
    cohereEvent({ type: 'message-start', id: 'fake', delta: { message } }),
    cohereEvent({
      type: 'content-start',
      index: 0,
      delta: { message: { content: { type: 'text', text: '' } } },
    }),
  ],
  words: fakeText.map((text) =>
    cohereEvent({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } }),
  ),
  over: (usage) => ended({ finish_reason: 'COMPLETE', usage }),
  usage: {
    billed_units: { input_tokens: 11, output_tokens: 7 },
    tokens: { input_tokens: 507, output_tokens: 9 },
  },
  wrongUsage: { billed_units: { input_tokens: 'eleven', output_tokens: 7 } },
  error: cohereEvent({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'Broken.' } }),
  error400: (message) => ({ id: 'fake', message }),
}

const reset: Step = { do: 'reset' }
const both = (steps: Step[]): Script => ({ plain: steps, stream: steps })

function scriptsOf(format: Format): Record<string, Script> {
  const { begun, words, over, usage, wrongUsage, error, error400 } = format
  const text = fakeText.join('')
  const start = [...begun, ...words.slice(0, 3)]
  const all = [...begun, ...words]
  const fail = (status: number, message: string) => both(json(status, error400(message)))
  const used = (usage: unknown): Script => ({
    plain: json(200, format.whole(text, usage)),
    stream: chunked([...all, ...over(usage)]),
  })
  const streamed = (pieces: string[], last?: Step[]): Script => ({
    plain: [],
    stream: chunked(pieces, last),
  })
  const common = ['reset-first', 'html', 'redirect', 'hang'] as const
  return {
    ok: used(usage),
    'usage-missing': used(undefined),
    'usage-text': used(wrongUsage),
    '429': fail(429, 'Too many.'),
    '503': fail(503, 'Overloaded.'),
    '401': fail(401, 'Wrong key KEY.'),
    '400': fail(400, 'contents: wrong'),
    '404': fail(404, 'No such model.'),
    filter: fail(400, 'Blocked by the content policy.'),
    empty: {
      plain: json(200, format.whole('', usage)),
      stream: chunked([...begun, ...over(usage)]),
    },
    'bad-json': {
      plain: [send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"id": '), end],
      stream: chunked([...start, 'data: {"id": \n\n']),
    },
    done: streamed([...all, ...over(usage), 'data: [DONE]\n\n']),
    'error-event': streamed([...start, error]),
    'error-first': streamed([error]),
    'no-end': streamed(start),
    cut: streamed(start, [end]),
    // As in chat-scripts.ts for `reset-middle`.
    reset: streamed(start, [{ waitMs: 300 }, reset]),
    ...(format.blocked && { blocked: streamed(format.blocked) }),
    ...Object.fromEntries(common.map((name) => [name, scripts[name] ?? both([])])),
  }
}

const named = (kind: string, of: Record<string, Script>): [string, Script][] =>
  Object.entries(of).map(([name, script]) => [`${kind}-${name}`, script])

/** Scripts of upstreams that get native requests, by their kind and the way that they respond. */
export const nativeScripts: Record<string, Script> = Object.fromEntries([
  ...named('google', scriptsOf(google)),
  ...named('cohere', scriptsOf(cohere)),
])

const eventsOf = ({ begun, words, over, usage }: Format): string =>
  [...begun, ...words, ...over(usage)].join('')

/** The streams of their script `ok`. */
export const nativeStreams = { google: eventsOf(google), cohere: eventsOf(cohere) }
