import type { Static, TObject } from '@sinclair/typebox'

import { ApiError, rejectRequest } from '../errors.ts'
import { FairQueue, PoolBusyError } from '../fair-queue.ts'
import { jsonBodyBytesMax, jsonDepthMax, jsonValuesMax, keylessBodyBytesMax } from '../limits.ts'
import { inThread, workerAt, WorkerPool } from '../worker-pool.ts'
import type { IncomingCall } from './operation.ts'
import { bodyRead, outerContext } from './request-context.ts'
import { createValidator } from './validation.ts'

/** The content type and the first bytes of a body that is not what the operation reads. */
interface SentBody {
  request: Request
  bytes: Uint8Array
}

/** The bytes of a body that show its kind. */
const kindBytes = 512

const signatures: [kind: string, at: number, signature: number[]][] = [
  ['a zip', 0, [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', 0, [0x1f, 0x8b]],
  ['a tar archive', 257, [0x75, 0x73, 0x74, 0x61, 0x72]],
  ['UTF-16', 0, [0xff, 0xfe]],
  ['UTF-16', 0, [0xfe, 0xff]],
  ['UTF-16', 0, [0x7b, 0x00]],
  ['UTF-16', 0, [0x00, 0x7b]],
]

const startsWith = (bytes: Uint8Array, text: RegExp): boolean =>
  text.test(new TextDecoder().decode(bytes.subarray(0, 100)))

const isJson = (bytes: Uint8Array): boolean => startsWith(bytes, /^\s*[[{]/)

/** Returns the kind of a body by its content, or else by its content type. */
function kindOf({ request, bytes }: SentBody): string | undefined {
  const found = signatures.find(([, at, signature]) =>
    signature.every((byte, index) => bytes[at + index] === byte),
  )
  if (found) return found[0]
  const type = request.headers.get('content-type') ?? ''
  if (/^multipart\/form-data\b/i.test(type) || startsWith(bytes, /^--[^\r\n]+\r\n/)) {
    return 'multipart/form-data'
  }
  if (isJson(bytes)) return undefined
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return 'application/x-www-form-urlencoded'
  return undefined
}

/** Returns the problem of a body that the client compressed; undefined without Content-Encoding. */
function encodingProblem({ headers }: Request): string | undefined {
  const encoding = headers.get('content-encoding')?.trim() ?? ''
  if (encoding === '' || /^identity$/i.test(encoding)) return undefined
  return 'The body is compressed. Send the body without Content-Encoding.'
}

const asJson = 'Send JSON with content-type: application/json'
export const emptyProblem = `The body is empty. ${asJson}.`
const asZip = 'send the zip itself as the body with content-type: application/zip'

/**
 * Describes a body that is not JSON, and the content type to send instead. `problem` is that of the
 * JSON. `takesZip`: the operation accepts a zip, too.
 */
function jsonProblem(sent: SentBody, problem: string, takesZip = false): string {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  const kind = kindOf(sent)
  if (kind === undefined) return isJson(sent.bytes) ? problem : `${problem} ${asJson}, in UTF-8.`
  if (kind === 'UTF-16') return `The body is not UTF-8. ${asJson}, in UTF-8.`
  if (kind === 'a zip' && takesZip) {
    return 'The body is a zip. Send it with content-type: application/zip, and the fields in the query.'
  }
  return `The body is ${kind}. ${asJson}${takesZip ? `, or ${asZip}` : ''}.`
}

/** Describes a body of application/zip that is something else; undefined where it may be a zip. */
export function zipProblem(sent: SentBody): string | undefined {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  if (sent.bytes.byteLength === 0) return `The body is empty: ${asZip}.`
  const kind = isJson(sent.bytes) ? 'JSON' : kindOf(sent)
  if (kind === undefined || kind === 'a zip') return undefined
  const isOther = kind === 'JSON'
  return `The body is ${kind}, not a zip. ${isOther ? `${asJson}, or ${asZip}` : `Instead, ${asZip}`}.`
}

/** Describes a body of a file that is wrapped; undefined for the file itself. */
export function fileProblem(sent: SentBody): string | undefined {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  if (kindOf(sent) !== 'multipart/form-data') return undefined
  return (
    'The body is multipart/form-data. Send the bytes of the file itself, with its own content ' +
    'type, or { "data": "data:..." } with content-type: application/json.'
  )
}

/** The value of a JSON text, or the reason why it is invalid. */
export type JsonResult = { value: unknown } | { problem: string }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON text (RFC 8259) in UTF-8: at most 64 levels and 100,000 values. */
export function parseJson(bytes: Uint8Array): JsonResult {
  const problem = findLimitProblem(bytes)
  if (problem !== undefined) return { problem }
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { problem: 'The body is not JSON: it is not UTF-8. Encode it in UTF-8.' }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return {
      problem: 'The body is not JSON: it does not parse. Check its quotes, commas and brackets.',
    }
  }
}

/**
 * Counts brackets and commas outside strings, before parsing. A few megabytes of short values would
 * block the parser and the validation for seconds.
 */
function findLimitProblem(json: Uint8Array): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = stringEnd(json, at + 1)
    else if (byte === 0x5b || byte === 0x7b) depth += 1
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
    else if (byte === 0x2c) values += 1
    if (depth > jsonDepthMax) return `The body is nested more than ${jsonDepthMax} deep.`
    if (values > jsonValuesMax) return `The body has more than ${jsonValuesMax} values.`
  }
  return undefined
}

const quote = 0x22
const backslash = 0x5c

/**
 * Returns the index of the quote that ends a string: the first one after an even number of
 * backslashes. The runtime finds quotes faster than a loop: texts are most of a body.
 */
function stringEnd(json: Uint8Array, from: number): number {
  for (let at = json.indexOf(quote, from); at >= 0; at = json.indexOf(quote, at + 1)) {
    let start = at
    while (start > from && json[start - 1] === backslash) start -= 1
    if ((at - start) % 2 === 0) return at
  }
  return json.length
}

/** Bytes. Below this size, the slowest JSON parses in 4 ms. */
const largeBytesMin = 524_288
/** Bodies of at most this size are read at once. */
const smallBytesMax = 65_536
/**
 * Bodies of running requests. One address has at most half. Each byte takes several in memory: as a
 * text, in the queue of a worker, and as garbage.
 */
const runningBytesMax = 48 * 1_048_576
/**
 * A zip may have more. It counts as a third, or it would wait until no other body is there. An
 * address has one of them, since two exceed its half.
 */
const countedBytesMax = runningBytesMax / 3

/**
 * Admits larger bodies before they are read, until the response begins. The system holds the bytes
 * of a client that waits.
 */
const bodies = new FairQueue({
  slots: Infinity,
  bytesMax: runningBytesMax,
  // The runtime has read 1.3 MB of each when it stops reading.
  waitingMax: 64,
  waitingBytesMax: Infinity,
  // Less than the time after which a silent socket is closed.
  waitMs: 30_000,
  largeBytes: Infinity,
  isFree: true,
  heavyMs: Infinity,
})

/**
 * Reads a request body of at most `max` bytes. Throws `too_large` as soon as more bytes are
 * announced or received, `bad_request` for an incomplete or slow body, and `try_again` when too
 * many large bodies arrive at the same time.
 */
export async function readBodyBytes(
  request: Request,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readWhole(request, max).catch(asBadRequest)
  bodyRead(request)
  return bytes
}

/** The client disconnected, which is not an internal error. */
function asBadRequest(error: unknown): never {
  if (error instanceof ApiError) throw error
  rejectRequest('The body is incomplete. Send the request again.')
}

async function readWhole(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > max) throw new ApiError('too_large', { bytes: announced, max })
  // The runtime enforces the announced length, and one piece costs half as much as chunks.
  if (announced > 0 && announced <= smallBytesMax)
    return new Uint8Array(await request.arrayBuffer())
  if (!request.body) return new Uint8Array()
  if (announced > 0) await admit(request, announced)
  if (announced >= largeBytesMin) await waitForTurn()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of outerContext(request)?.bodyArrivals.read(request.body) ??
    request.body) {
    bytes += chunk.byteLength
    if (bytes > max) throw new ApiError('too_large', { bytes, max })
    chunks.push(chunk)
    // Without an announced length, the body may get as large as it is allowed.
    if (bytes > smallBytesMax) await admit(request, max)
  }
  if (announced === 0) recount(request, bytes)
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

/** Waits until a body may be read, once for a request. Its bytes count until the response. */
async function admit(request: Request, bytes: number): Promise<void> {
  const context = outerContext(request)
  if (!context || context.releaseBody) return
  context.releaseBody = await bodies.begin(Math.min(bytes, countedBytesMax)).catch((error) => {
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `The body was not read: ${error.message}.` })
  })
}

/** Counts the bytes that an admitted body has, instead of those that it might have had. */
function recount(request: Request, bytes: number): void {
  const context = outerContext(request)
  if (!context?.releaseBody) return
  const counted = bodies.count(Math.min(bytes, countedBytesMax))
  context.releaseBody()
  context.releaseBody = counted
}

let lastTurn = Promise.resolve()

/** Lets other requests run between the large bodies that arrive at the same time. */
const waitForTurn = (): Promise<void> => (lastTurn = lastTurn.then(() => Bun.sleep(0)))

/**
 * Reads a JSON body (RFC 8259) in UTF-8: at most `max` bytes, 64 levels and 100,000 values. Returns
 * undefined for an empty body. `takesZip`: its errors name a zip as an alternative. Throws
 * `too_large`, `bad_request`, and `try_again` when too many large bodies arrive at the same time.
 */
export async function readJsonBody(
  request: Request,
  { max = jsonBodyBytesMax, takesZip }: { max?: number; takesZip?: boolean } = {},
): Promise<unknown> {
  const bytes = await readBodyBytes(request, max)
  if (bytes.byteLength === 0) return undefined
  const isLarge = bytes.byteLength >= largeBytesMin
  // The worker gets the bytes themselves.
  const start = isLarge ? new Uint8Array(bytes.subarray(0, kindBytes)) : bytes
  const parsed = isLarge ? await parseInWorker(bytes) : parseJson(bytes)
  if ('value' in parsed) return parsed.value
  rejectRequest(jsonProblem({ request, bytes: start }, parsed.problem, takesZip))
}

const bounds = {
  slots: 3,
  waitingMax: 64,
  waitingBytesMax: 256 * 1_048_576,
  largeBytes: 2 * 1_048_576,
  taskMs: 10_000,
  idleMs: 10_000,
}

/** A large body would block all other requests for up to 100 ms. */
const parsers = new WorkerPool<Uint8Array, JsonResult>(
  inThread(workerAt('kernel/http/json.worker.ts')),
  bounds,
)

async function parseInWorker(bytes: Uint8Array<ArrayBuffer>): Promise<JsonResult> {
  return parsers
    .run(bytes.byteLength, () => bytes, [bytes.buffer])
    .catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The body was not read: ${error.message}.` })
    })
}

const mediaType = 'application/x-www-form-urlencoded'
const problem = `Send the fields once each, with content-type: ${mediaType}.`

/** Returns the input of an operation whose body is a form of texts, as OAuth has them. */
export function formInput<Schema extends TObject>(schema: Schema) {
  const validate: (value: unknown) => asserts value is Static<Schema> = createValidator(schema)
  return {
    async read({ source }: IncomingCall): Promise<Static<Schema>> {
      const value = 'request' in source ? await readForm(source.request) : source.value
      validate(value)
      return value
    },
    bodies: {
      [mediaType]: {
        schema: {
          ...schema,
          required: schema.required ?? [],
          additionalProperties: schema.additionalProperties ?? false,
        },
      },
    },
  }
}

/** Reads a form. Throws `bad_request`, also for a field that occurs twice (RFC 6749, 3.2). */
async function readForm(request: Request): Promise<Record<string, string>> {
  const type = request.headers.get('content-type') ?? ''
  if (type.split(';')[0]?.trim().toLowerCase() !== mediaType) rejectRequest(problem)
  const bytes = await readBodyBytes(request, keylessBodyBytesMax)
  const fields = [...new URLSearchParams(new TextDecoder().decode(bytes))]
  const values = Object.fromEntries(fields)
  return Object.keys(values).length === fields.length ? values : rejectRequest(problem)
}
