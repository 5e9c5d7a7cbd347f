import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { ApiError, type GatewayErrorName } from '../../kernel/errors.ts'
import type { ClientSocket, SocketHandler } from '../../kernel/http/web-socket.ts'
import { newId } from '../../kernel/ids.ts'
import { eventBytesMax } from '../../kernel/limits.ts'
import { parseRecord } from '../../kernel/schema.ts'
import { minute, monotonic, second, stopwatch } from '../../kernel/time.ts'
import { errorEnvelope, isGatewayError } from '../error-response.ts'
import {
  realtimeCutMs,
  realtimeIdleMs,
  realtimeQueueBytesMax,
  realtimeResponsesMax,
  realtimeSessionMs,
  realtimeStopMs,
} from '../limits.ts'
import type { Model } from '../models/catalog.ts'
import type { PaidCall } from '../paid/paid-call.ts'
import type { UpstreamSocket } from '../providers/upstream.ts'
import { type ClientEvent, readClientEvent, type SessionWork } from './session-work.ts'

/** A connection whose reading can pause. */
interface Source {
  pause(): void
  resume(): void
}

/**
 * Events of one direction of a session, handled one at a time. Its source is paused while too many
 * bytes wait, so that a slow reader slows the writer down.
 */
export class EventQueue {
  private waiting: string[] = []
  private bytes = 0
  private isRunning = false
  private isPaused = false
  private isClosed = false

  constructor(
    private readonly source: Source,
    private readonly handle: (text: string) => Promise<void>,
  ) {}

  push(text: string): void {
    if (this.isClosed) return
    this.waiting.push(text)
    this.bytes += text.length
    if (!this.isRunning) void this.run()
    else if (this.bytes > realtimeQueueBytesMax && !this.isPaused) {
      this.isPaused = true
      this.source.pause()
    }
  }

  /** Drops what waits. */
  close(): void {
    this.isClosed = true
    this.waiting = []
  }

  private async run(): Promise<void> {
    this.isRunning = true
    for (let text = this.waiting.shift(); text !== undefined; text = this.waiting.shift()) {
      this.bytes -= text.length
      if (this.isPaused && this.bytes <= realtimeQueueBytesMax) {
        this.isPaused = false
        this.source.resume()
      }
      await this.handle(text)
    }
    this.isRunning = false
  }
}

const tickMs = second
const pollMs = 20
/** Marks the end of an upstream's events. */
const closed = ''

/** The parts of a session that its handshake prepared. */
export interface SessionParts {
  paid: PaidCall
  upstream: UpstreamSocket
  work: SessionWork
  model: Model
  /** Names of the model that the client may use. */
  names: string[]
  /** Throws unless the key may still call. */
  checkKey(): Promise<unknown>
  /** Gives the places of the session back. */
  release(): void
}

interface SessionEnd {
  /** The error that the client receives. */
  error?: ApiError<GatewayErrorName> | 'internal'
  code: number
  /** The time in which the upstream may still report a usage. */
  graceMs: number
}

/**
 * A realtime session between a client and an upstream. Events pass in their order. A response is
 * settled before its last event reaches the client, and its hold is open before it can begin.
 */
export class RealtimeSession implements SocketHandler {
  private socket: ClientSocket | undefined
  private readonly fromClient: EventQueue
  private readonly fromUpstream: EventQueue
  private drained: PromiseWithResolvers<void> | undefined
  private isStopping = false
  private isEnding = false
  private isUpstreamOpen = true
  private readonly startedAt: number
  private activeAt: number
  private timer: Timer | undefined

  constructor(private readonly parts: SessionParts) {
    this.startedAt = this.activeAt = this.now()
    const client = { pause: () => this.socket?.pause(), resume: () => this.socket?.resume() }
    this.fromClient = new EventQueue(client, (text) => this.guard(() => this.onClient(text)))
    const { upstream } = parts
    this.fromUpstream = new EventQueue(upstream, (text) => this.guard(() => this.onUpstream(text)))
  }

  private now(): number {
    return monotonic(this.parts.paid.ctx.clock)
  }

  open(socket: ClientSocket): void {
    this.socket = socket
    const { state } = this.parts.paid.ctx
    state.sessions.add(this)
    state.shutdown.signal.addEventListener('abort', this.cut)
    this.timer = setInterval(() => void this.guard(() => this.tick()), tickMs)
    this.parts.upstream.listen({
      message: (text) => this.fromUpstream.push(text),
      close: () => this.fromUpstream.push(closed),
    })
    if (state.isStopping) this.stop()
  }

  message(data: string | Buffer): void {
    this.activeAt = this.now()
    this.fromClient.push(typeof data === 'string' ? data : '')
  }

  drain(): void {
    this.drained?.resolve()
    this.drained = undefined
  }

  close(): void {
    this.socket = undefined
    void this.end({ code: closeCodes.done, graceMs: realtimeCutMs })
  }

  stop(): void {
    this.isStopping = true
    if (this.parts.work.responseIds.length === 0) this.fail(new ApiError('server_stops'))
  }

  /** The server no longer waits. */
  private readonly cut = (): void =>
    void this.end({
      error: new ApiError('server_stops'),
      code: closeCodes.stops,
      graceMs: realtimeStopMs,
    })

  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.fail(error)
    }
  }

  private fail(cause: unknown): void {
    const { ctx, requestId: id } = this.parts.paid
    const error = toGatewayError(cause)
    if (!error) ctx.log.error('realtime.failed', cause, { id })
    void this.end({ error: error ?? 'internal', code: closeCodeOf(error), graceMs: realtimeCutMs })
  }

  private async tick(): Promise<void> {
    if (this.isEnding) return
    await this.parts.checkKey()
    const now = this.now()
    if (now - this.startedAt > realtimeSessionMs) {
      throw new ApiError('session_expired', { minutes: realtimeSessionMs / minute })
    }
    const isIdle = now - this.activeAt > realtimeIdleMs
    if (isIdle && this.parts.work.responseIds.length === 0) {
      throw new ApiError('session_idle', { seconds: realtimeIdleMs / second })
    }
  }

  /** Sends an event to the client, and waits for one that reads slowly. */
  private async send(text: string): Promise<void> {
    if (this.isEnding || !this.socket) return
    if (this.socket.send(text) !== -1) return
    this.drained = Promise.withResolvers()
    await this.drained.promise
  }

  private async onClient(text: string): Promise<void> {
    const event = await this.readEvent(text)
    if (!event || this.isEnding) return
    const { work, upstream, checkKey } = this.parts
    if (event.type === 'response.create') await checkKey()
    await work.ensure()
    if (this.isEnding) return
    work.addInput(event)
    upstream.send(JSON.stringify(event))
    while (upstream.bufferedAmount > realtimeQueueBytesMax && !this.isEnding) {
      await Bun.sleep(pollMs)
    }
  }

  /** Checks an event. One that is not forwarded gives an error event, and the session goes on. */
  private async readEvent(text: string): Promise<ClientEvent | undefined> {
    const { paid, work, model, names } = this.parts
    try {
      const event = readClientEvent(text, model, names)
      if (event.type === 'response.create') {
        if (this.isStopping) throw new ApiError('server_stops')
        if (work.responseIds.length >= realtimeResponsesMax) {
          throw new ApiError('holds_limit', { max: realtimeResponsesMax, retryAfter: 1 })
        }
      }
      if (event.type === 'session.update') await work.setTranscription(event.session)
      return event
    } catch (cause) {
      const error = toGatewayError(cause)
      if (!error) throw cause
      await this.send(errorEvent(error, paid.requestId, parseRecord(text)?.event_id))
      return undefined
    }
  }

  private async onUpstream(text: string): Promise<void> {
    const event = text.length > eventBytesMax ? undefined : parseRecord(text)
    if (!event) {
      this.isUpstreamOpen = text !== closed
      throw new ApiError('session_broken')
    }
    const seen = await this.parts.work.accept(event)
    if (seen) await this.send(JSON.stringify(seen))
    if (event.type !== 'response.done' || this.isEnding) return
    if (this.isStopping && this.parts.work.responseIds.length === 0) {
      throw new ApiError('server_stops')
    }
    await this.parts.work.ensure()
  }

  /** Ends the session once: cuts and settles what runs, and closes both connections. */
  private async end({ error, code, graceMs }: SessionEnd): Promise<void> {
    if (this.isEnding) return
    const { paid, work, upstream, release } = this.parts
    const { state, log } = paid.ctx
    if (error !== undefined) {
      this.socket?.send(errorEvent(error === 'internal' ? undefined : error, paid.requestId))
    }
    this.isEnding = true
    clearInterval(this.timer)
    this.fromClient.close()
    this.drain()
    await this.cutRunning(graceMs)
    this.fromUpstream.close()
    await work.close().catch((cause: unknown) => log.error('realtime.not_closed', cause))
    upstream.close()
    this.socket?.close(code, error === 'internal' || !error ? '' : error.errorName)
    state.shutdown.signal.removeEventListener('abort', this.cut)
    state.sessions.delete(this)
    release()
  }

  /** Cancels running responses, and waits a short time for their usage. */
  private async cutRunning(graceMs: number): Promise<void> {
    const { work, upstream } = this.parts
    for (const id of work.responseIds) {
      upstream.send(JSON.stringify({ type: 'response.cancel', response_id: id }))
    }
    const until = stopwatch() + graceMs
    while (work.isRunning && this.isUpstreamOpen && stopwatch() < until) await Bun.sleep(pollMs)
  }
}

/** Close codes of RFC 6455, section 7.4.1. */
const closeCodes = { done: 1_000, stops: 1_001, rejected: 1_008, failed: 1_011 } as const

const ofUpstream = new Set<GatewayErrorName>(['session_broken', 'try_again'])

/** Returns the error that a client receives; undefined for an internal error. */
function toGatewayError(error: unknown): ApiError<GatewayErrorName> | undefined {
  if (isGatewayError(error)) return error
  return isWriteUnavailable(error) ? new ApiError('try_again', {}) : undefined
}

/** Returns the close code of a session that ends with an error. */
function closeCodeOf(error: ApiError<GatewayErrorName> | undefined): number {
  if (!error || ofUpstream.has(error.errorName)) return closeCodes.failed
  return error.errorName === 'server_stops' ? closeCodes.stops : closeCodes.rejected
}

/** Returns an error as an event in OpenAI's format. `cause`: the `event_id` of its event. */
function errorEvent(
  error: ApiError<GatewayErrorName> | undefined,
  requestId: string,
  cause?: unknown,
): string {
  const body = error
    ? errorEnvelope(error).body.error
    : {
        type: 'api_error',
        code: 'internal',
        message: `This server failed with an internal error. Send the operator this request id: ${requestId}`,
        param: null,
      }
  const event_id = typeof cause === 'string' ? cause.slice(0, 512) : null
  return JSON.stringify({
    type: 'error',
    event_id: `event_${newId()}`,
    error: { ...body, event_id },
  })
}
