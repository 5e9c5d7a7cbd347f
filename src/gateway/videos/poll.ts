import type { AppContext } from '../../kernel/context.ts'
import { videoBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import { detectVideoType } from '../../store/containers.ts'
import { fetchResult } from '../media-files/fetch-result.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readFile } from '../paid/response-body.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import { isTransientStatus } from '../providers/error-body.ts'
import { type Received, UpstreamError } from '../providers/upstream.ts'
import type { VideoJobData } from './schemas.ts'

/** A video that will never be there. */
export interface FailedVideo {
  state: 'failed'
  code: 'upstream_failed' | 'content_policy_violation'
  why: string
}

/** A failure that a later poll may not have, such as of the network. */
interface UnavailableVideo {
  state: 'unavailable'
}

interface Video {
  state: 'completed'
  bytes: Uint8Array
  type: string
}

/** The state of a video at its upstream. `progress` is in percent, and NaN where it is unknown. */
export type PollResult =
  | { state: 'pending'; progress: number }
  | (Video & { response: Json })
  | FailedVideo
  | UnavailableVideo

const completedStatuses = ['completed', 'succeeded']
const failedStatuses = ['failed', 'cancelled', 'canceled', 'expired', 'rejected', 'error']

const unavailable: UnavailableVideo = { state: 'unavailable' }
const failed = (why: string): FailedVideo => ({ state: 'failed', code: 'upstream_failed', why })
const noState = failed('The provider responded with something else than the state of this video.')
const noVideo = failed('The provider completed this video without returning a video.')
const blocked = failed('The video is at an address that cannot be fetched.')

/** Asks the upstream of a video once, and reads the video where it is completed. */
export async function pollUpstream(
  ctx: AppContext,
  { upstream, operation }: VideoJobData,
  deadlines: CallDeadlines,
): Promise<PollResult> {
  const path = `/videos/${encodeURIComponent(operation)}` as const
  const received = await receive(ctx, { upstream, path }, deadlines)
  if ('state' in received) return received
  const response = await readState(received, deadlines)
  if (!response) return unavailable
  const { status, error, progress, url } = response
  if (failedStatuses.includes(String(status))) return toFailure(error)
  if (typeof status !== 'string') return isRecord(error) ? toPollFailure(error) : noState
  if (!completedStatuses.includes(status)) return { state: 'pending', progress: Number(progress) }
  const request = () => readContent(ctx, { upstream, path: `${path}/content` }, deadlines)
  const source = { upstream, url, request }
  const video = await readVideo(ctx, source, deadlines)
  return video.state === 'completed' ? { ...video, response } : video
}

/** Reads the state of a video; undefined for a response that breaks off. */
async function readState(received: Received, deadlines: CallDeadlines): Promise<Json | undefined> {
  if ('json' in received) return received.json
  const bytes = await readFile(received, deadlines)
  return bytes && (parseRecord(new TextDecoder().decode(bytes)) ?? {})
}

interface Poll {
  upstream: string
  path: `/videos/${string}`
}

/** Requests the content of a video by the upstream's API. A response without one is empty. */
async function readContent(
  ctx: AppContext,
  poll: Poll,
  deadlines: CallDeadlines,
): Promise<Uint8Array | FailedVideo | UnavailableVideo> {
  const received = await receive(ctx, poll, deadlines)
  if ('state' in received) return received
  if ('json' in received) return new Uint8Array()
  return (await readFile(received, deadlines, videoBytesMax)) ?? unavailable
}

async function receive(
  { upstreams }: AppContext,
  { upstream, path }: Poll,
  deadlines: CallDeadlines,
): Promise<Received | FailedVideo | UnavailableVideo> {
  try {
    const sent = await upstreams.find(upstream)?.poll({ path, signal: deadlines.signal })
    if (!sent) return unavailable
    if (!('rejected' in sent)) return sent
    const { status } = sent.rejected
    if (isTransientStatus(status)) return unavailable
    if ([404, 410].includes(status)) return failed('The provider no longer has this video.')
    return failed(`The provider rejected a request for this video with the status ${status}.`)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return error.kind === 'redirect' ? failed('The provider redirects this video.') : unavailable
  }
}

interface VideoSource {
  upstream: string
  /** The URL that the upstream names, if any. */
  url: unknown
  /** Requests the content by the upstream's API. */
  request(): Promise<Uint8Array | FailedVideo | UnavailableVideo>
}

/** Reads a completed video from its URL, else by the upstream's API. */
async function readVideo(
  ctx: AppContext,
  { upstream, url, request }: VideoSource,
  deadlines: CallDeadlines,
): Promise<Video | FailedVideo | UnavailableVideo> {
  const bytesMax = videoBytesMax
  const named =
    typeof url === 'string'
      ? await fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
      : undefined
  const video = toVideo(named)
  if (video) return video
  const body = await request()
  const content = toVideo(body)
  if (content) return content
  if (body instanceof Uint8Array) return named === 'unavailable' ? unavailable : noVideo
  if (body.state === 'unavailable' || named === 'unavailable') return unavailable
  if (named === 'blocked') return blocked
  return named === undefined ? body : noVideo
}

function toVideo(bytes: unknown): Video | undefined {
  const type = bytes instanceof Uint8Array ? detectVideoType(bytes) : undefined
  return bytes instanceof Uint8Array && type ? { state: 'completed', bytes, type } : undefined
}

const toFailure = (error: unknown): FailedVideo =>
  failureOfErrorBody(error).error.errorName === 'content_policy'
    ? {
        state: 'failed',
        code: 'content_policy_violation',
        why: 'The provider declined this under its content rules.',
      }
    : failed('The provider could not create this video.')

/** Returns the failure of a response that has an error and no state. */
const toPollFailure = (error: Json): FailedVideo | UnavailableVideo =>
  isTransientStatus(Number(error.status ?? error.code)) ? unavailable : toFailure(error)
