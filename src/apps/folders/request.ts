import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { readBodyBytes, zipProblem } from '../../kernel/http/body.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { inProcess, TaskLimitError, type TaskLimits, WorkerPool } from '../../kernel/worker-pool.ts'
import type { FileField } from './folder.ts'
import {
  type InputFile,
  packBounds,
  type PackedFile,
  planZip,
  unpackFiles,
  withoutTopFolder,
  type ZipBounds,
  type ZipLimits,
  type ZipResult,
} from './unzip.ts'

/** A zip within both limits is read in the server: unpacking stops at what its directory claims. */
const inlineZipBytesMax = 256 * 1_024
const inlineUnpackedBytesMax = 1_048_576
/**
 * A task has files of so many bytes, packed and unpacked, or one larger file. So a large zip shares
 * the processes with others, and needs no more memory than its largest file.
 */
const taskBytesMax = 16 * 1_048_576

/** A file of 64 MB, the most that a setting allows, is there several times on its way. */
const taskLimits: TaskLimits = { cpuMs: 5_000, memoryBytes: 768 * 1_048_576 }
const poolBounds = {
  slots: 3,
  waitingMax: 32,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 2 * 1_048_576,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs: one with 40
  // other programs took more than a minute for 16 MB.
  taskMs: 300_000,
  idleMs: 20_000,
}

/**
 * Reads zips that clients send: small ones at once, others in processes of their own, which end
 * when a zip takes too much time or memory.
 */
export class ZipReader {
  private readonly pool: WorkerPool<PackedFile[], Unpacked>

  constructor(limits: Partial<TaskLimits> = {}) {
    const file = 'apps/folders/unzip.worker.ts'
    this.pool = new WorkerPool(inProcess({ file, ...taskLimits, ...limits }), poolBounds)
  }

  /** Reads a zip within bounds, by default those of a pack. Throws `try_again`. */
  async read(zip: Uint8Array, bounds = packBounds): Promise<ZipResult> {
    const plan = planZip(zip, bounds)
    if (!('packed' in plan)) return plan
    const size = plan.packed.reduce((sum, { bytes }) => sum + bytes, 0)
    const isSmall = zip.byteLength <= inlineZipBytesMax && size <= inlineUnpackedBytesMax
    const files: InputFile[] = []
    for (const some of isSmall ? [plan.packed] : tasksOf(plan.packed)) {
      const found = isSmall ? await unpackFiles(some) : await this.unpackInProcess(some)
      if ('reasons' in found) return found
      for (const file of found.files) files.push(file)
    }
    return { files: withoutTopFolder(files) }
  }

  close(): void {
    this.pool.close()
  }

  private async unpackInProcess(files: PackedFile[]): Promise<Unpacked> {
    // A view would take the whole zip with it.
    const task = () => files.map((file) => ({ ...file, packed: file.packed.slice() }))
    try {
      return await this.pool.run(sizeOf(files), task)
    } catch (error) {
      if (error instanceof TaskLimitError) {
        return { reasons: [`the zip cannot be read: ${error.message}. Send a smaller one.`] }
      }
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The zip was not read: ${error.message}.` })
    }
  }
}

type Unpacked = Awaited<ReturnType<typeof unpackFiles>>

const sizeOf = (files: PackedFile[]): number =>
  files.reduce((sum, { packed, bytes }) => sum + packed.byteLength + bytes, 0)

/** Splits the files of a zip into tasks. */
function tasksOf(files: PackedFile[]): PackedFile[][] {
  const tasks: PackedFile[][] = [[]]
  let bytes = 0
  for (const file of files) {
    const more = sizeOf([file])
    if (bytes > 0 && bytes + more > taskBytesMax) {
      tasks.push([])
      bytes = 0
    }
    tasks.at(-1)?.push(file)
    bytes += more
  }
  return tasks
}

/** Reads the zips of all requests. Its processes end when they are idle. */
const zipReader = new ZipReader()

/** Throws the error that a kind of folder has for files that cannot be read. */
type Reject = (reasons: string[]) => never

/** Returns the request whose body is a zip; undefined for a call with another body. */
export const zipOf = ({ headers, source }: IncomingCall): Request | undefined =>
  'request' in source &&
  /^application\/(zip|x-zip-compressed)\b/i.test(headers.get('content-type') ?? '')
    ? source.request
    : undefined

export const textFile = (path: string, text: string): InputFile => ({
  path,
  bytes: new TextEncoder().encode(text),
})

/** Decodes the files of a JSON body. */
export function decodeFiles(files: FileField[], reject: Reject): InputFile[] {
  return files.map(({ path, text, base64 }) => {
    const shown = JSON.stringify(path.slice(0, 200))
    if ((text === undefined) === (base64 === undefined)) {
      return reject([`the file ${shown} must have exactly one of "text" and "base64".`])
    }
    if (text !== undefined) return textFile(path, text)
    try {
      return { path, bytes: Uint8Array.fromBase64(base64 ?? '') }
    } catch {
      return reject([`the "base64" of the file ${shown} cannot be decoded.`])
    }
  })
}

/**
 * Reads the files of a zip, the body of a request. Throws `bad_request`, `too_large`,
 * `asset_too_large` and `try_again`.
 */
export async function readZipRequest(
  request: Request,
  limits: ZipLimits,
  reject: Reject,
): Promise<InputFile[]> {
  const bytes = await readBodyBytes(request, limits.zipBytesMax)
  const problem = zipProblem({ request, bytes })
  return problem === undefined ? readZip(bytes, limits, reject) : reject([problem])
}

/** Reads the files of a zip. Throws `too_large`, `asset_too_large` and `try_again`. */
async function readZip(zip: Uint8Array, bounds: ZipBounds, reject: Reject): Promise<InputFile[]> {
  const found = await zipReader.read(zip, bounds)
  if ('reasons' in found) return reject(found.reasons)
  if ('files' in found) return found.files
  const { tooLarge: bytes, max, path } = found
  if (path !== undefined) throw new ApiError('asset_too_large', { bytes, max, path })
  throw new ApiError('too_large', { bytes, max })
}

/** Reads the fields beside a zip, in the query. Those in `json` are JSON. Throws `bad_request`. */
export function fieldsOf(
  { query }: IncomingCall,
  json: ReadonlySet<string>,
): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, text]) => {
    if (!json.has(name)) return [name, text]
    try {
      return [name, JSON.parse(String(text))]
    } catch {
      rejectRequest(`"${name}" must be JSON.`, name)
    }
  })
  return Object.fromEntries(entries)
}
