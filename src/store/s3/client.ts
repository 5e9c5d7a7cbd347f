import { AwsV4Signer } from 'aws4fetch'

import { ApiError } from '../../kernel/errors.ts'
import { FairQueue, PoolBusyError } from '../../kernel/fair-queue.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import { lookUp } from '../../kernel/schema.ts'
import { errorCodeOf, messageOf } from '../../kernel/text.ts'
import { type Clock, isWithin, second } from '../../kernel/time.ts'

/** Limits of storage in a bucket. */
export const mb = 1_048_576

const s3AttemptsMax = 3
/** The time of one attempt until its response, and per megabyte of its body. */
const s3AttemptMs = 5_000
const s3MsPerMegabyte = 1_000
/** Requests to the store at once, and more that wait. */
const s3RequestsMax = 64
const s3WaitingMax = 10_000
/** Files above this are uploaded in parts of this size, and read into the cache as a stream. */
export const s3PartBytes = 8 * mb
export const s3CachedFilesMax = 100_000

/** The settings of a bucket. */
export interface Bucket {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The start of every key; it ends with / or is empty. */
  prefix: string
  pathStyle: boolean
  /** The time of one attempt until its response. */
  attemptMs?: number
}

/** A request for one object, or with the key '' for the bucket. */
interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array | string
  /** The SHA-256 of the body, where the caller knows it. */
  bodySha256?: string
}

/** A failed attempt. `code` is the store's, such as "NoSuchBucket", or names the failure. */
export class S3Error extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'S3Error'
  }
}

/** Content that differs from its name, which is its hash. */
export const wrongContent = (name: string): S3Error =>
  new S3Error(0, 'WrongContent', `The store returned wrong content for ${name}.`)

const unavailable = 'The file storage of this server does not respond.'
const retryPausesMs = [100, 500]
const logPauseMs = 10 * second
const retryableCodes = new Set([
  'BadDigest',
  'RequestTimeout',
  'SlowDown',
  'WrongContent',
  'XAmzContentSHA256Mismatch',
])

/**
 * Sends signed requests to a bucket: each has a deadline, is tried at most three times, and has its
 * body checked by the store. Failures become `try_again`; the log has their reason.
 */
export class S3Client {
  /** The last failure, until a request succeeds. */
  problem: string | undefined
  private readonly base: string
  private readonly queue = new FairQueue({
    slots: s3RequestsMax,
    waitingMax: s3WaitingMax,
    waitingBytesMax: Number.POSITIVE_INFINITY,
    largeBytes: Number.POSITIVE_INFINITY,
    heavyMs: Number.POSITIVE_INFINITY,
    isFree: true,
  })
  private readonly signingKeys = new Map<string, ArrayBuffer>()
  private loggedAt = -Infinity

  constructor(
    private readonly bucket: Bucket,
    private readonly ctx: { clock: Clock; log?: Log | undefined },
  ) {
    this.base = bucketUrl(bucket)
  }

  /** The bucket's name and prefix, as a copy source has them. */
  get source(): string {
    return `/${this.bucket.bucket}/${this.bucket.prefix}`
  }

  get prefix(): string {
    return this.bucket.prefix
  }

  /**
   * Sends a request and returns what `read` makes of its response, within one deadline and the same
   * attempts. A missing object (404) is undefined. Throws `try_again`.
   */
  async send<Result>(
    request: S3Request,
    read: (response: Response) => Promise<Result>,
    attemptsMax = s3AttemptsMax,
  ): Promise<Result | undefined> {
    try {
      const result = await this.queue.run(0, () => this.attempt(request, read, attemptsMax))
      this.problem = undefined
      return result
    } catch (error) {
      if (error instanceof S3Error && error.status === 404 && error.code !== 'NoSuchBucket') {
        this.problem = undefined
        return undefined
      }
      throw error instanceof ApiError ? error : this.toApiError(error)
    }
  }

  /** As `send`, but throws the S3Error of the last attempt: for the checks of a start. */
  async attempt<Result>(
    request: S3Request,
    read: (response: Response) => Promise<Result>,
    attemptsMax = s3AttemptsMax,
  ): Promise<Result> {
    // A store that is down keeps each request waiting only once.
    const attempts = this.problem === undefined ? attemptsMax : 1
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(request, read)
      } catch (error) {
        // The disk of the cache is full. The store is not to blame, and another attempt is no help.
        if (error instanceof ApiError) throw error
        const failure = toS3Error(error)
        if (attempt === attempts || !isRetryable(failure)) throw failure
        await Bun.sleep(retryPausesMs[attempt - 1] ?? 0)
      }
    }
  }

  private async once<Result>(
    request: S3Request,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { method, body } = request
    const abort = new AbortController()
    const limit = (bytes: number) =>
      setTimeout(
        () => abort.abort(new S3Error(0, 'Timeout', 'The store did not respond in time.')),
        (this.bucket.attemptMs ?? s3AttemptMs) + Math.ceil(bytes / mb) * s3MsPerMegabyte,
      )
    let timer = limit(body?.length ?? 0)
    try {
      const { url, headers } = await this.sign(request)
      const { signal } = abort
      const init = { method, headers, signal, redirect: 'manual', ...(body && { body }) } as const
      const response = await fetch(url, init)
      clearTimeout(timer)
      timer = limit(Number(response.headers.get('content-length') ?? s3PartBytes))
      if (response.ok) return await read(response)
      throw await readError(response)
    } finally {
      clearTimeout(timer)
    }
  }

  private async sign({ method, key, query, headers, body = '', bodySha256 }: S3Request) {
    const { accessKeyId, secretAccessKey, region, prefix } = this.bucket
    const url = new URL(this.base + (key === '' ? '' : prefix + key))
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
    // Keys of earlier days remain, one of 32 bytes each.
    return new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': bodySha256 ?? sha256(body) },
      accessKeyId,
      secretAccessKey,
      service: 's3',
      region,
      cache: this.signingKeys,
    }).sign()
  }

  private toApiError(error: unknown): ApiError {
    const { clock, log } = this.ctx
    const why = error instanceof S3Error ? `${error.code}: ${error.message}` : messageOf(error)
    if (!(error instanceof PoolBusyError)) {
      this.problem = why
    }
    if (!isWithin(clock, this.loggedAt, logPauseMs)) {
      this.loggedAt = clock.now()
      log?.error('s3.failed', error)
    }
    return new ApiError('try_again', { why: unavailable })
  }
}

/** Returns the URL of a bucket, which has its name in the path or in the host. */
export function bucketUrl({ endpoint, bucket, pathStyle }: Bucket): string {
  const url = new URL(endpoint)
  if (pathStyle) url.pathname = `/${bucket}/`
  else url.hostname = `${bucket}.${url.hostname}`
  return url.href
}

const isRetryable = ({ status, code }: S3Error): boolean =>
  status === 0 || status === 429 || (status >= 500 && status !== 501) || retryableCodes.has(code)

function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error
  return new S3Error(0, errorCodeOf(error) || 'Network', messageOf(error))
}

const tagOf = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1]

/** Reads the error of a response: XML with Code and Message, or nothing after HEAD. */
async function readError(response: Response): Promise<S3Error> {
  const xml = await response.text()
  const code = tagOf(xml, 'Code') ?? response.statusText
  return new S3Error(response.status, code, tagOf(xml, 'Message') ?? `HTTP ${response.status}`)
}

/** Reads a response whose status 200 may carry an error: a copy, or the end of an upload. */
export async function readLateError(response: Response): Promise<string> {
  const xml = await response.text()
  if (!xml.includes('<Error>')) return xml
  const code = tagOf(xml, 'Code') ?? 'Error'
  throw new S3Error(500, code, tagOf(xml, 'Message') ?? 'The store reported an error.')
}

const advice: Record<string, (bucket: Bucket) => string> = {
  NoSuchBucket: ({ bucket }) =>
    `S3_BUCKET ${bucket} does not exist. Create it, or fix S3_BUCKET and S3_ENDPOINT.`,
  InvalidBucketName: ({ bucket }) => `S3_BUCKET ${bucket} is not a valid name for this store.`,
  InvalidAccessKeyId: () => 'The store does not know S3_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: () =>
    'S3_SECRET_ACCESS_KEY does not belong to S3_ACCESS_KEY_ID, or S3_REGION is wrong.',
  AuthorizationHeaderMalformed: () => 'S3_REGION is not the region of the bucket.',
  PermanentRedirect: () => 'S3_ENDPOINT or S3_REGION is not that of the bucket.',
  RequestTimeTooSkewed: () =>
    'The clock of this machine differs from that of the store. Set it, for example with NTP.',
  AccessDenied: ({ bucket }) =>
    `S3_ACCESS_KEY_ID may not read, write and list in S3_BUCKET ${bucket}. Grant s3:GetObject, ` +
    's3:PutObject, s3:DeleteObject, s3:ListBucket and s3:AbortMultipartUpload.',
}

/** Returns an error that says which setting or part prevents the use of a bucket. */
export function startProblem(error: unknown, bucket: Bucket): Error {
  const { endpoint } = bucket
  if (!(error instanceof S3Error)) return new Error(`S3_ENDPOINT ${endpoint}: ${messageOf(error)}`)
  const { status, code, message } = error
  const known = lookUp(advice, code)?.(bucket)
  if (known !== undefined) return new Error(`${known} (${endpoint}: ${code})`)
  const why = `${code}: ${message}`
  if (status === 0) {
    return new Error(`S3_ENDPOINT ${endpoint} cannot be reached. Start it, or fix it. (${why})`)
  }
  if (status >= 500) return new Error(`S3_ENDPOINT ${endpoint} does not work right now. (${why})`)
  return new Error(`S3_ENDPOINT ${endpoint} rejected a request (${status}). (${why})`)
}
