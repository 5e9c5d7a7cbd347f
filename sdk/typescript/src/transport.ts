import { BerthError } from './error.ts'

/** An operation of an API, as the generated tables have it. */
export interface Operation {
  readonly method: string
  /** The path with its parameters: `/apps/{id}`. */
  readonly path: string
  /** The server runs it once for each idempotency key. */
  readonly idempotent?: true
  /** The field of the response with the items of a list. */
  readonly items?: string
  /** The media type of `content`, which is sent as the body. */
  readonly content?: string
  /** The response is a file, also where the file is a text or JSON. */
  readonly file?: true
  /** The body is a form. */
  readonly form?: true
  /** `only`: the response is a stream. `asked`: it is one with `stream: true`. */
  readonly events?: 'only' | 'asked'
}

export type Input = Readonly<Record<string, unknown>>
/** The input of an operation that takes none. */
export type NoInput = Readonly<Record<string, never>>
/** An event in the format of the API that it follows. */
export type Event = Readonly<Record<string, unknown>>
type Body = NonNullable<RequestInit['body']>

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal
  /** Default: a random key, which all attempts of the call have in common. */
  idempotencyKey?: string
  headers?: Readonly<Record<string, string>>
}

/** The parts of a client that all its calls use. */
export interface Transport {
  readonly baseUrl: string
  readonly key: string | undefined
  /** Attempts after the first one. */
  readonly retries: number
  /** Milliseconds until a response must begin. */
  readonly timeoutMs: number
  readonly fetch: (request: Request) => Promise<Response>
}

/** The longest wait that a server may ask for before a call is repeated. A longer one is an error. */
const retryAfterMaxMs = 60_000
const overloaded = new Set([429, 502, 503, 504])

/**
 * Sends a call and returns its response. It repeats a call that the server did not run, and one whose
 * response was lost if repeating it is safe. Throws `BerthError` for a response that is an error.
 */
export async function send(
  transport: Transport,
  operation: Operation,
  input: Input,
  options: CallOptions = {},
): Promise<Response> {
  const { url, body, type } = encode(transport.baseUrl, operation, input)
  const headers = new Headers(options.headers)
  if (transport.key) headers.set('authorization', `Bearer ${transport.key}`)
  if (type) headers.set('content-type', type)
  const isKeyed = operation.idempotent && typeof input['ref'] !== 'string'
  if (isKeyed) headers.set('idempotency-key', options.idempotencyKey ?? crypto.randomUUID())
  const isRepeatable = operation.idempotent || operation.method !== 'POST'
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= transport.retries
    const outcome = await attemptOnce(
      transport,
      { url, body, headers, method: operation.method },
      options.signal,
    )
    if (outcome instanceof Response && outcome.ok && outcome.status !== 202) return outcome
    if (!(outcome instanceof Response)) {
      if (isLast || !isRepeatable || options.signal?.aborted) throw outcome
      await wait(backoffMs(attempt), options.signal)
      continue
    }
    const failure = await errorOf(outcome)
    if (!(failure instanceof BerthError)) return failure
    const delay = repeatAfterMs(failure, { attempt, isRepeatable })
    if (isLast || delay === undefined || delay > retryAfterMaxMs) throw failure
    await wait(delay, options.signal)
  }
}

type Prepared = { url: string; method: string; headers: Headers; body: Body | null }

/** Returns the response, or what `fetch` threw. */
async function attemptOnce(
  { fetch, timeoutMs }: Transport,
  { url, ...request }: Prepared,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new Error('The server did not respond in time.')),
    timeoutMs,
  )
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal
  try {
    return await fetch(new Request(url, { ...request, signal: either }))
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the error of a response. A 202 is one only while its payment is pending. */
async function errorOf(response: Response): Promise<BerthError | Response> {
  const { status, headers } = response
  const body: unknown = await response.json().catch(() => undefined)
  const isPending = typeof body === 'object' && body !== null && 'code' in body
  if (status === 202 && !isPending) return new Response(JSON.stringify(body), { status, headers })
  return new BerthError(status, body, headers)
}

/** Returns the wait before a repetition; undefined where the call must not be repeated. */
function repeatAfterMs(
  { status, code, headers }: BerthError,
  { attempt, isRepeatable }: { attempt: number; isRepeatable: boolean },
): number | undefined {
  const asked = retryAfterMs(headers.get('retry-after'))
  // The first attempt of this call may still run.
  if (code === 'busy' && attempt > 0 && isRepeatable) return asked ?? backoffMs(attempt)
  if (!overloaded.has(status)) return undefined
  return asked ?? (isRepeatable ? backoffMs(attempt) : undefined)
}

/** Parses Retry-After: seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const backoffMs = (attempt: number): number => 500 * 2 ** attempt * (0.5 + Math.random() / 2)

const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

interface Encoded {
  url: string
  body: Body | null
  type?: string
}

/** Puts each field of an input into the path, the query or the body. */
function encode(baseUrl: string, operation: Operation, input: Input): Encoded {
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(fields.get(name))
    fields.delete(name)
    // These would be another path. Others have no slash when they are encoded.
    if (!/^\.{0,2}$/.test(value)) return encodeURIComponent(value)
    throw new TypeError(`${name} cannot be "${value}". Pass the one of what you mean.`)
  })
  const inQuery = (): string => {
    const query = new URLSearchParams(
      [...fields].map(([name, value]): [string, string] => [name, String(value)]),
    )
    return query.size > 0 ? `${baseUrl}${path}?${query}` : baseUrl + path
  }
  const content = fields.get('content')
  if (operation.content && content !== undefined) {
    fields.delete('content')
    return { url: inQuery(), body: content as Body, type: operation.content }
  }
  if (operation.method === 'GET' || operation.method === 'DELETE') {
    return { url: inQuery(), body: null }
  }
  const url = baseUrl + path
  if (operation.form) return { url, body: formOf(fields) }
  if (fields.size === 0) return { url, body: null }
  return { url, body: JSON.stringify(Object.fromEntries(fields)), type: 'application/json' }
}

function formOf(fields: ReadonlyMap<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, value] of fields) {
    for (const part of Array.isArray(value) ? value : [value]) {
      form.append(name, part instanceof Blob ? part : String(part))
    }
  }
  return form
}
