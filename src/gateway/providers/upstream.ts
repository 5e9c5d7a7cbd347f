import { classifyNetworkError, type NetworkProblem, readStart } from '../../kernel/fetch.ts'
import { type Json, parseRecord } from '../../kernel/schema.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { Api, ChatRequest } from '../conversation/chat-request.ts'
import type { Target, UpstreamCodec } from '../conversation/codec.ts'
import { parseRetryAfter, type Rejected } from './error-body.ts'

export interface UpstreamChat extends Target {
  request: ChatRequest
  signal: AbortSignal
}

export type SentChat = Rejected | AcceptedChat

export type AcceptedChat =
  | {
      /** Read by the codec, whole or as a stream. */
      response: Response
      codec: UpstreamCodec
      /** The fields of the request that the upstream did not get. */
      ignored: string[]
    }
  /** The steps of an upstream in this process. Throws UpstreamError where it breaks off. */
  | { steps: AsyncIterable<ChatEvent[]>; ignored: string[] }

/** The operations of upstreams beside chats, as paths below the base URL. */
export type UpstreamPath =
  | '/embeddings'
  | '/moderations'
  | '/rerank'
  | '/images/generations'
  | '/images/edits'
  | '/images/variations'
  | '/videos'
  | '/audio/speech'
  | '/audio/transcriptions'
  | '/audio/translations'

export interface UpstreamCall {
  path: UpstreamPath
  /** The model's name at this upstream. */
  model: string
  /** The client's request; adapters replace `model`. */
  body: Json | FormData
  signal: AbortSignal
}

/** The response to a request that is no chat, in OpenAI's format. */
export type SentRequest = Rejected | Received

export type Received =
  /** Its body is read by pulling, within bounds, and ends when the signal aborts. */
  | { response: Response }
  /** The result of a provider package, or of an upstream in this process. */
  | { json: Json }
  | { file: Blob }

/** A poll of running work. */
export interface PollRequest {
  /** Below the base URL, with the id from the response to `/videos`. */
  path: `/videos/${string}`
  signal: AbortSignal
}

/** The handshake of a realtime session. */
export interface ConnectRequest {
  /** The model's name at this upstream. */
  model: string
  /** Asks for the events of OpenAI's beta. */
  isBeta: boolean
  signal: AbortSignal
}

export interface SocketListener {
  message(text: string): void
  /** The upstream closed the connection, or it broke. */
  close(): void
}

/** An open realtime session of an upstream. */
export interface UpstreamSocket {
  /** Bytes that wait for the upstream. */
  readonly bufferedAmount: number
  send(text: string): void
  /** Stops reading, so that the upstream sees the back-pressure of TCP. */
  pause(): void
  resume(): void
  close(): void
  /** Receives the events from now on, those that came before included. */
  listen(listener: SocketListener): void
}

/** A result that an upstream names by its URL, absolute or relative to the base URL. */
export interface DownloadRequest {
  url: string
  bytesMax: number
  signal: AbortSignal
}

/** The address of an upstream, and its key. */
export interface UpstreamAddress {
  name: string
  /** Without a trailing slash. */
  baseUrl: string
  apiKey?: string
}

/** The interface of all adapters. */
export interface Upstream {
  readonly name: string
  readonly kind: string
  /** The APIs of chats that it speaks: it gets the requests of their clients as they are. */
  readonly apis: readonly Api[]
  /** Throws UpstreamError when there is no response. */
  send(call: UpstreamCall): Promise<SentRequest>
  /** Throws UpstreamError when there is no response. */
  chat(call: UpstreamChat): Promise<SentChat>
  /** Returns the fields of a request that it does not send. Undefined where all have an effect. */
  ignoredFields?(request: Pick<UpstreamCall, 'path' | 'body'>): string[]
  /**
   * Returns the state of a video (`/videos/<id>`), or its content (`/videos/<id>/content`). The id
   * contains all state, so any process may poll. Undefined for upstreams without video. Throws
   * UpstreamError.
   */
  poll?(request: PollRequest): Promise<SentRequest>
  /**
   * Opens a realtime session, or returns the rejection of a refused handshake. Undefined for
   * upstreams without sessions. Throws UpstreamError.
   */
  connect?(request: ConnectRequest): Promise<UpstreamSocket | Rejected>
  /**
   * Downloads a result that a response names by its URL. Undefined for upstreams whose responses
   * contain all results. Throws for a URL that is neither public nor of this upstream.
   */
  download?(request: DownloadRequest): Promise<Response>
}

/**
 * refused: no connection. reset: cut before the first byte of a response. timeout and aborted: the
 * caller's signal. redirect: not followed. unreadable: a response that is not HTTP, so the model
 * may have run.
 */
export type UpstreamErrorKind = NetworkProblem | 'redirect'

/** A request without a response. The message has the upstream's name, never its address or key. */
export class UpstreamError extends Error {
  constructor(
    readonly kind: UpstreamErrorKind,
    upstream: string,
  ) {
    super(`${upstream}: ${kind}`)
    this.name = 'UpstreamError'
  }
}

/** Returns the handler of a network error, which throws it as an UpstreamError. */
export const throwUpstreamError =
  (name: string, signal: AbortSignal) =>
  (error: unknown): never => {
    throw new UpstreamError(classifyNetworkError(error, signal), name)
  }

/** Waits for a response. Throws an UpstreamError without one, and for a redirect. */
export async function receiveResponse(
  sent: Promise<Response>,
  name: string,
  signal: AbortSignal,
): Promise<Response> {
  const response = await sent.catch(throwUpstreamError(name, signal))
  if (response.status < 300 || response.status >= 400) return response
  await response.body?.cancel()
  throw new UpstreamError('redirect', name)
}

/** Bytes of an error response that are read. */
const errorBytesMax = 65_536

/** Reads the start of an error response as text. Throws UpstreamError when it breaks off. */
export const readErrorText = async (
  response: Response,
  name: string,
  signal: AbortSignal,
): Promise<string> => {
  const read = readStart(response, errorBytesMax)
  return (await read.catch(throwUpstreamError(name, signal))).text
}

/** Reads an error response in OpenAI's format, or in a similar one. Throws UpstreamError. */
export async function readRejection(
  response: Response,
  { name, apiKey }: UpstreamAddress,
  signal: AbortSignal,
): Promise<Rejected> {
  const text = await readErrorText(response, name, signal)
  const body = parseRecord(apiKey ? text.replaceAll(apiKey, '[key]') : text) ?? {}
  const retryAfter = parseRetryAfter(response.headers.get('retry-after'))
  // A status outside HTTP's range is a fault of the upstream.
  const isValid = response.status >= 400 && response.status < 600
  return { rejected: { status: isValid ? response.status : 599, body, retryAfter } }
}
