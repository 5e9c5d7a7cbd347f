import { ApiError, rejectRequest } from '../errors.ts'
import { FairQueue, PoolBusyError } from '../fair-queue.ts'
import { jsonBodyBytesMax } from '../limits.ts'
import { inThread, workerAt, WorkerPool } from '../worker-pool.ts'
import { jsonProblem, kindBytes } from './body-kind.ts'
import { type JsonResult, parseJson } from './json.ts'
import { bodyRead, outerContext } from './request-context.ts'

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
