/** The operations an upstream may have, as paths below its base URL. */
export type UpstreamPath =
  | '/chat/completions'
  | '/embeddings'
  | '/images/generations'
  | '/videos'
  | '/audio/speech'
  | '/audio/transcriptions'

export interface UpstreamCall {
  path: UpstreamPath
  /** The model's name at this upstream. */
  model: string
  /** The request as the client sent it; `model` and, in a stream, `stream_options` are replaced. */
  body: Record<string, unknown> | FormData
  /** The most output tokens of one choice; the upstream is told in the name it knows. */
  outputTokensMax?: number
  signal: AbortSignal
}

/** A look at work that goes on there. */
export interface PollRequest {
  /** Below the base URL; its id is what the answer to `/videos` called it. */
  path: `/videos/${string}`
  signal: AbortSignal
}

/**
 * The one seam: every lane answers in OpenAI's HTTP shapes. The answer's status is the upstream's
 * own; its body is read by pulling, and ends when `signal` aborts.
 */
export interface Upstream {
  readonly name: string
  readonly kind: string
  /** Throws UpstreamFault when there is no answer. */
  send(call: UpstreamCall): Promise<Response>
  /**
   * How a film stands (`/videos/<id>`), and once it is completed the film itself
   * (`/videos/<id>/content`). Any process may ask: all that it takes is in the id. Left out where
   * no films are made. Throws UpstreamFault as `send` does.
   */
  poll?(at: PollRequest): Promise<Response>
}

/**
 * refused: nobody took the request. reset: cut before any byte of an answer. timeout and aborted:
 * the caller's signal. redirect: not followed. unreadable: an answer came that is not HTTP, so the
 * model may have run.
 */
export type UpstreamErrorKind =
  'refused' | 'reset' | 'timeout' | 'redirect' | 'aborted' | 'unreadable'

/** An upstream gave no answer. The message names the upstream, never its address or its key. */
export class UpstreamError extends Error {
  constructor(
    readonly kind: UpstreamErrorKind,
    upstream: string,
  ) {
    super(`${upstream}: ${kind}`)
    this.name = 'UpstreamFault'
  }
}
