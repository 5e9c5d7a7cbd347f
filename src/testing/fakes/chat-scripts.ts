import { gzipSync } from 'node:zlib'

/** One action of the fake upstream on its connection. */
export type Step =
  | { send: string | Uint8Array }
  | { waitMs: number }
  | { until: Promise<unknown> }
  /** Holds the connection open until the client disconnects. */
  | { do: 'hang' }
  | { do: 'reset' }
  | { do: 'end' }

/** Text of a successful response. */
export const fakeText = ['Hello', ' wörld', ' 👋', ' of', ' bytes', '.']
export const fakeUsage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

export const end: Step = { do: 'end' }
export const send = (bytes: string | Uint8Array): Step => ({ send: bytes })

export const head = (status: number, type: string, more = '') =>
  `HTTP/1.1 ${status} Fake\r\ncontent-type: ${type}\r\nconnection: close\r\n${more}`

/** A JSON response. Each of `headers` ends with a line break. */
export const json = (status: number, body: unknown, headers = ''): Step[] =>
  plain(status, JSON.stringify(body), 'application/json', headers)

const plain = (status: number, body: string, type = 'application/json', headers = ''): Step[] => [
  send(
    `${head(status, type, `${headers}content-length: ${Buffer.byteLength(body)}\r\n`)}\r\n${body}`,
  ),
  end,
]

const failure = (status: number, message: string, code: string | null = null): Step[] =>
  json(status, { error: { message, type: 'fake_error', param: null, code } })

const frame = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** A chunked stream. Each piece is one HTTP chunk. */
export const chunked = (
  pieces: (string | Uint8Array)[],
  last: Step[] = [send('0\r\n\r\n'), end],
) => [
  send(`${head(200, 'text/event-stream', 'transfer-encoding: chunked\r\n')}\r\n`),
  ...pieces.map((piece) => send(frame(Buffer.from(piece)))),
  ...last,
]

const completion = (usage: unknown, choices?: unknown[]) => ({
  id: 'chatcmpl-fake',
  object: 'chat.completion',
  created: 1,
  model: 'fake',
  choices: choices ?? [
    { index: 0, message: { role: 'assistant', content: fakeText.join('') }, finish_reason: 'stop' },
  ],
  ...(usage === undefined ? {} : { usage }),
})

const event = (body: unknown) => `data: ${JSON.stringify(body)}\n\n`

const delta = (content: string | undefined, finish: string | null = null, usage?: unknown) => ({
  id: 'chatcmpl-fake',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'fake',
  choices: [{ index: 0, delta: content === undefined ? {} : { content }, finish_reason: finish }],
  ...(usage === undefined ? {} : { usage }),
})

const done = 'data: [DONE]\n\n'
const words = fakeText.map((word) => event(delta(word)))
const finish = event(delta(undefined, 'stop'))
const tail = (usage: unknown) => event({ ...delta(undefined), choices: [], usage })
const events = (usage: unknown = fakeUsage) => [
  ...words,
  finish,
  ...(usage === undefined ? [] : [tail(usage)]),
  done,
]

export interface Script {
  plain: Step[]
  stream: Step[]
}

const both = (steps: Step[]): Script => ({ plain: steps, stream: steps })
const used = (usage: unknown): Script => ({
  plain: json(200, completion(usage)),
  stream: chunked(usage === undefined ? [...words, finish, done] : events(usage)),
})
const ok = json(200, completion(fakeUsage))
const streamed = (pieces: (string | Uint8Array)[], last?: Step[]): Script => ({
  plain: ok,
  stream: chunked(pieces, last),
})
const reset: Step[] = [{ do: 'reset' }]
const filter = 'content_filter'
const wordless = (finish_reason: string) => [
  { index: 0, message: { role: 'assistant', content: '' }, finish_reason },
]
const declined = wordless(filter)
const broken = event({ error: { message: 'Broken.', type: 'server_error', code: null } })

/** 64 MB of spaces compressed to 64 KB: JSON whose value never starts. */
const bomb = (): Step[] => {
  const body = gzipSync(Buffer.alloc(64_000_000, ' '))
  const headers = `content-encoding: gzip\r\ncontent-length: ${body.length}\r\n`
  return [send(`${head(200, 'application/json', headers)}\r\n`), send(body), end]
}

/** Half of a response. */
export const cut = (last: Step, unfinished = JSON.stringify(completion(fakeUsage))): Step[] => [
  send(`${head(200, 'application/json', `content-length: ${unfinished.length + 2}\r\n`)}\r\n`),
  send(unfinished.slice(0, 60)),
  last,
]

/** Sends each byte of the stream in its own packet. */
export const bytes = (pieces: string[]) =>
  [...Buffer.from(pieces.join(''))].map((one) => Buffer.from([one]))

/** A valid response that is nested too deeply for JSON.stringify. */
export const deep = (response: object) => {
  const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  return `${JSON.stringify(response).slice(0, -1)},"more":${nested}}`
}
const deepEvents = () => [...words.slice(0, 3), `data: ${deep(delta('x'))}\n\n`, done]

const wrongKey = JSON.stringify({
  error: { message: 'Incorrect API key provided: KEY.', code: null },
})

/** Scripts by the model's name, one for each way an upstream can succeed or fail. */
export const scripts: Record<string, Script> = {
  ok: { plain: ok, stream: chunked(events()) },
  'ok-usage-early': streamed([
    event(delta(fakeText[0], null, fakeUsage)),
    ...words.slice(1),
    finish,
    done,
  ]),
  'ok-usage-each': streamed([
    ...words.map((_, at) => event(delta(fakeText[at], null, fakeUsage))),
    finish,
    done,
  ]),
  'ok-crlf': streamed(events().map((piece) => piece.replaceAll('\n', '\r\n'))),
  'ok-cr': streamed(events().map((piece) => piece.replaceAll('\n', '\r'))),
  'ok-comments': streamed([': waiting\n\n', ...events().flatMap((piece) => [': still\n', piece])]),
  'ok-empty-data': streamed(events().flatMap((piece) => ['data:\n\n', 'data: \n\n', piece])),
  'ok-split-utf8': streamed(bytes(events())),
  'ok-one-piece': streamed([events().join('')]),
  'ok-done-twice': streamed([...events(), done]),
  // Servers without streaming send the whole response.
  'ok-unstreamed': both(ok),
  'ok-slow': streamed([], slowly(40, 25)),
  '408': both(failure(408, 'Too slow.')),
  '429': both(failure(429, 'Too many.')),
  '500': both(failure(500, 'Broken.')),
  '503': both(failure(503, 'Overloaded.')),
  'reset-first': both(reset),
  'close-first': both([end]),
  'content-filter': both(failure(400, 'Declined.', filter)),
  'content-filter-finish': {
    plain: json(200, completion(fakeUsage, declined)),
    stream: chunked([...words.slice(0, 3), event(delta(undefined, filter)), tail(fakeUsage), done]),
  },
  '400': both(failure(400, 'Wrong.')),
  '404': both(failure(404, 'No such model.')),
  '422': both(failure(422, 'Unprocessable.')),
  empty: { plain: plain(200, ''), stream: chunked([]) },
  'no-choices': {
    plain: json(200, completion(fakeUsage, [])),
    stream: chunked([tail(fakeUsage), done]),
  },
  'no-content': {
    plain: json(200, completion(fakeUsage, wordless('stop'))),
    stream: chunked([finish, tail(fakeUsage), done]),
  },
  'bad-json': {
    plain: plain(200, '{"id": "chatcmpl-fake", '),
    stream: chunked([...words.slice(0, 3), 'data: {"id": \n\n', done]),
  },
  truncated: { plain: cut(end), stream: chunked(words.slice(0, 3), [end]) },
  'reset-middle': {
    plain: cut({ do: 'reset' }),
    // A reset can discard bytes sent just before it. The wait lets the client read them.
    stream: chunked(words.slice(0, 3), [{ waitMs: 300 }, ...reset]),
  },
  'no-done': streamed([...words, finish]),
  deep: { plain: plain(200, deep(completion(fakeUsage))), stream: chunked(deepEvents()) },
  html: both(plain(200, '<html><body>Sign in</body></html>', 'text/html')),
  'bad-headers': both([send('HTTP/1.1 200 OK\r\nthis is no header\r\n\r\n{}'), end]),
  'gzip-bomb': both(bomb()),
  hang: both([{ do: 'hang' }]),
  'hang-middle': {
    plain: cut({ do: 'hang' }),
    stream: chunked(words.slice(0, 3), [{ do: 'hang' }]),
  },
  'error-event': streamed([...words.slice(0, 3), broken]),
  'error-first': streamed([broken]),
  'error-unstreamed': both(failure(200, 'Broken.')),
  'filter-unstreamed': both(json(200, completion(fakeUsage, declined))),
  // OpenRouter's form: the price that the operator pays.
  'usage-cost': used({ ...fakeUsage, cost: 0.5, cost_details: { upstream_inference_cost: 0.4 } }),
  'usage-missing': used(undefined),
  'usage-null': used(null),
  'usage-negative': used({ prompt_tokens: -11, completion_tokens: 7, total_tokens: -4 }),
  'usage-float': used({ prompt_tokens: 10.5, completion_tokens: 6.2, total_tokens: 16.7 }),
  'usage-text': used({ prompt_tokens: '11', completion_tokens: 'seven' }),
  'usage-overflow': used({ prompt_tokens: 1e300, completion_tokens: 2 ** 60, total_tokens: 1e300 }),
  'usage-zero': used({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  '401': both([send(`${head(401, 'application/json')}\r\n${wrongKey}`), end]),
  '402': both(failure(402, 'No money.')),
  '403': both(failure(403, 'Not yours.')),
  redirect: both([
    send(`${head(307, 'text/plain', 'location: CANARY\r\ncontent-length: 0\r\n')}\r\n`),
    end,
  ]),
}

/** A stream of `count` words, one at a time. */
function slowly(count: number, waitMs: number): Step[] {
  const steps = Array.from({ length: count }, (_, at): Step[] => [
    send(frame(Buffer.from(event(delta(` ${at}`))))),
    { waitMs },
  ])
  const closing = [finish, tail({ ...fakeUsage, completion_tokens: count }), done]
  return [
    ...steps.flat(),
    ...closing.map((piece) => send(frame(Buffer.from(piece)))),
    send('0\r\n\r\n'),
    end,
  ]
}
