import { PoolBusyError, WorkerPool } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import { jsonBodyBytesMax } from '../limits.ts'
import { type Parsed, parseJson } from './json.ts'
import { bodyRead } from './request-context.ts'

/** A text of 512 KB takes 4 ms to parse when all of it is escaped; larger ones hold everyone up. */
const largeBytesMin = 524_288

/**
 * A request's body, whole, at most `max` bytes. Refuses too_large as soon as more is announced
 * or has come, before it is kept; bad_request when it breaks off.
 */
export async function readBodyBytes(
  request: Request,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readWhole(request, max).catch(asBadRequest)
  bodyRead(request)
  return bytes
}

/** A client that left is no fault of ours. */
function asBadRequest(error: unknown): never {
  if (error instanceof ApiError) throw error
  throw new ApiError('bad_request', { problem: 'The body broke off before its end.' })
}

async function readWhole(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > max) throw new ApiError('too_large', { bytes: announced, max })
  // A body never has more bytes than its head announces; in one piece it is read at half the cost.
  if (announced > 0) {
    if (announced >= largeBytesMin) await turn()
    return new Uint8Array(await request.arrayBuffer())
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > max) throw new ApiError('too_large', { bytes, max })
    chunks.push(chunk)
  }
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

let last = Promise.resolve()

/** Large bodies that come at once are taken one after another, with pauses between. */
const turn = (): Promise<void> => (last = last.then(() => Bun.sleep(0)))

/**
 * A request's JSON body (RFC 8259): UTF-8, at most `max` bytes (26 MB), nested at most 64 deep,
 * of at most 100,000 values.
 * Answers undefined when there is none. Refuses too_large, bad_request with what is wrong, and
 * try_again when too many large ones come at once.
 */
export async function readJsonBody(request: Request, max = jsonBodyBytesMax): Promise<unknown> {
  const bytes = await readBodyBytes(request, max)
  if (bytes.byteLength === 0) return undefined
  const parsed = bytes.byteLength < largeBytesMin ? parseJson(bytes) : await parseElsewhere(bytes)
  if ('value' in parsed) return parsed.value
  const isPacked = request.headers.has('content-encoding')
  const problem = isPacked ? 'Send the body as it is, without Content-Encoding.' : parsed.problem
  throw new ApiError('bad_request', { problem })
}

const bounds = {
  workersMax: 1,
  queueMax: 64,
  queueBytesMax: 256 * 1_048_576,
  taskMs: 10_000,
  idleMs: 10_000,
}

/** Beside this file, or below the root of the compiled binary, where this file is part of main. */
const workerFile = import.meta.url.endsWith('/http/body.ts')
  ? './json.worker.ts'
  : './http/json.worker.ts'

/** A large body would hold everyone up for up to a tenth of a second. */
const parsers = new WorkerPool<Uint8Array, Parsed>(
  () => new Worker(new URL(workerFile, import.meta.url)),
  bounds,
)

async function parseElsewhere(bytes: Uint8Array<ArrayBuffer>): Promise<Parsed> {
  return parsers.run(bytes, [bytes.buffer]).catch((error: unknown) => {
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `The body could not be read: ${error.message}.` })
  })
}
