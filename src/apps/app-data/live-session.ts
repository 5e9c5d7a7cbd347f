import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { Upgraded } from '../../kernel/http/outcome.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import type { ClientSocket, SocketHandler } from '../../kernel/http/web-socket.ts'
import { recordOf } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import { knownError } from '../../people/error-response.ts'
import { checkSite, findSessionUser } from '../../people/session-user.ts'
import { freshSender, getPlayable } from '../audience/access.ts'
import type { SharingUse } from '../uses/uses.ts'
import { readQuery } from './document-cache.ts'
import { checkCollectionPath, checkReadable, parseDocumentPath } from './documents.ts'
import {
  liveMessageBytesMax,
  liveMessagesPerSecond,
  livePagesPerServerMax,
  roomMessageBytesMax,
  roomNameCharsMax,
  roomsPerPageMax,
  watchesPerPageMax,
} from './limits.ts'
import { errorFields } from './live-queries.ts'
import {
  checkAgreed,
  findPlayer,
  hasAgreed,
  identifyPlayer,
  type Player,
  type PlayerCall,
} from './players.ts'
import type { JoinedRoom } from './rooms.ts'
import { QuerySchema } from './schemas.ts'

const room = Type.String({ minLength: 1, maxLength: roomNameCharsMax })
const watch = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The messages of a page. */
const WatchSchema = Type.Object({
  type: Type.Literal('watch'),
  watch,
  /** A query, or the path of one document. */
  query: Type.Optional(QuerySchema),
  path: Type.Optional(Type.String()),
  since: Type.Optional(Type.Integer({ minimum: -1 })),
})
const UnwatchSchema = Type.Object({ type: Type.Literal('unwatch'), watch })
const JoinSchema = Type.Object({
  type: Type.Literal('join'),
  room,
  presence: Type.Optional(Type.Unknown()),
})
const LeaveSchema = Type.Object({ type: Type.Literal('leave'), room })
const EmitSchema = Type.Object({
  type: Type.Literal('emit'),
  room,
  topic: Type.String({ minLength: 1, maxLength: roomNameCharsMax }),
  data: Type.Optional(Type.Unknown()),
})
const PresenceSchema = Type.Object({
  type: Type.Literal('presence'),
  room,
  data: Type.Optional(Type.Unknown()),
})

const read = {
  watch: createValidator(WatchSchema),
  unwatch: createValidator(UnwatchSchema),
  join: createValidator(JoinSchema),
  leave: createValidator(LeaveSchema),
  emit: createValidator(EmitSchema),
  presence: createValidator(PresenceSchema),
}

/** Codes of RFC 6455 for ends that a page meets by connecting again, or not. */
const closeCodes = { restart: 1012, overload: 1013, policy: 1008 } as const

/** Rooms whose names end with the code of controllers (public/bridge/pads.ts). */
const controllerPrefix = 'controller/'

/** Throws `too_large` for what a room would pass to all its players. */
function checkRoomData(data: unknown): void {
  const bytes = data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data))
  if (bytes <= roomMessageBytesMax) return
  throw new ApiError('too_large', { bytes, max: roomMessageBytesMax })
}

/**
 * The live connection of one open page: the queries that it watches and the rooms that it is in. A
 * page that connects again sends them again, with the versions that it has.
 */
export class LiveSession implements SocketHandler {
  #socket: ClientSocket | undefined
  /** The functions that end the watches, by their numbers. */
  readonly #watches = new Map<number, () => void>()
  readonly #rooms = new Map<string, JoinedRoom>()
  /** The second of the last message, and the messages in it: a limiter would take a megabyte. */
  #messages = { second: 0, count: 0 }
  #stopListening: (() => void) | undefined

  constructor(
    private readonly ctx: AppContext,
    private player: Player,
    private readonly sender: PlayerCall,
    /** Gives the place of the connection back. */
    private readonly release: () => void,
  ) {}

  get app(): string {
    return this.player.app.id
  }

  open(socket: ClientSocket): void {
    this.#socket = socket
    this.ctx.state.sessions.add(this)
    this.#stopListening = this.ctx.state.accessChanges.on((of) => {
      if (of === undefined || of === this.app || of === this.player.person) void this.check()
    })
    if (this.ctx.state.isStopping) this.stop()
  }

  message(data: string | Buffer): void {
    const isFit = typeof data === 'string' && data.length <= liveMessageBytesMax
    if (!isFit || this.#isFlood()) return this.#end(closeCodes.policy)
    const message = parseMessage(data)
    this.#handle(message).catch((error: unknown) => this.#fail(message, error))
  }

  drain(): void {}

  /** Counts a message. Returns whether there are too many in a second. */
  #isFlood(): boolean {
    const now = Math.floor(this.ctx.clock.now() / second)
    if (now !== this.#messages.second) this.#messages = { second: now, count: 0 }
    this.#messages.count += 1
    return this.#messages.count > liveMessagesPerSecond
  }

  close(): void {
    this.#socket = undefined
    if (!this.ctx.state.sessions.delete(this)) return
    this.#stopListening?.()
    for (const end of this.#watches.values()) end()
    for (const joined of this.#rooms.values()) joined.leave()
    this.release()
  }

  stop(): void {
    this.#end(closeCodes.restart)
  }

  /**
   * Ends the connection of an app that the page may no longer open, and of a person whose session
   * has ended.
   */
  async check(): Promise<void> {
    const error = await this.#checkPlayer().then(() => undefined, knownError)
    if (error && error.errorName !== 'try_again') this.#end(closeCodes.policy)
  }

  /** Throws what `getPlayable` throws, and `not_joined` for another player than at the start. */
  async #checkPlayer(): Promise<void> {
    const sender = freshSender(this.sender)
    const app = await getPlayable(this.ctx, this.app, sender)
    const user = await findSessionUser(this.ctx, sender)
    if (identifyPlayer(this.ctx, app, sender, user?.person).id === this.player.id) return
    throw new ApiError('not_joined', { app: app.id })
  }

  #end(code: number): void {
    this.#socket?.close(code, '')
    this.close()
  }

  /** A reader that is too slow connects again, and continues by versions. */
  #send(text: string): void {
    if (this.#socket?.send(text) === 0) this.#end(closeCodes.overload)
  }

  #fail(message: Record<string, unknown>, cause: unknown): void {
    const { watch, room } = message
    const error = knownError(cause)
    if (!error) {
      this.ctx.log.error('live.failed', cause)
      return this.#end(closeCodes.overload)
    }
    const about = typeof watch === 'number' ? { watch } : { room }
    this.#send(`${JSON.stringify({ type: 'error', ...about }).slice(0, -1)},${errorFields(error)}`)
  }

  async #handle(message: Record<string, unknown>): Promise<void> {
    switch (message['type']) {
      case 'watch':
        return this.#watch(read.watch(message))
      case 'unwatch':
        return this.#unwatch(read.unwatch(message).watch)
      case 'join':
        return this.#join(read.join(message))
      case 'leave':
        return this.#leave(read.leave(message).room)
      case 'emit': {
        const { room: name, topic, data } = read.emit(message)
        checkRoomData(data)
        return this.#joined(name).emit(topic, data ?? null)
      }
      case 'presence': {
        const { room: name, data } = read.presence(message)
        checkRoomData(data)
        return this.#joined(name).setPresence(data ?? null)
      }
      default:
        rejectRequest('"type" must be watch, unwatch, join, leave, emit or presence.', 'type')
    }
  }

  /**
   * Checks that the player agreed to a use, perhaps after the page has opened. Throws
   * `not_declared` and `not_joined`.
   */
  async #checkAgreed(use: SharingUse): Promise<void> {
    this.player = await findPlayer(this.ctx, this.sender, this.app)
    checkAgreed(this.player, use)
  }

  async #watch({ watch: number, query, path, since }: Static<typeof WatchSchema>): Promise<void> {
    if (!hasAgreed(this.player, 'db')) await this.#checkAgreed('db')
    this.#unwatch(number)
    if (this.#watches.size >= watchesPerPageMax) {
      throw new ApiError('data_full', { what: `${watchesPerPageMax} subscriptions of a page` })
    }
    const of = query
      ? { collection: checkCollectionPath(query.collection), query: readQuery(query) }
      : { ...parseDocumentPath(path ?? ''), query: readQuery({ collection: '' }) }
    checkReadable(this.player, of.collection)
    let isOpen = true
    this.#watches.set(number, () => void (isOpen = false))
    const start = `{"type":"documents","watch":${number},`
    const end = await this.ctx.liveQueries.watch(
      { app: this.app, ...of },
      (fields) => this.#send(start + fields),
      since,
    )
    // The page may have ended it, or the connection, while the documents were read.
    if (isOpen && this.#socket) this.#watches.set(number, end)
    else end()
  }

  #unwatch(number: number): void {
    this.#watches.get(number)?.()
    this.#watches.delete(number)
  }

  async #join({ room: name, presence = null }: Static<typeof JoinSchema>): Promise<void> {
    if (!hasAgreed(this.player, 'room')) await this.#checkAgreed('room')
    if (!this.#socket) return
    if (name.startsWith(controllerPrefix)) this.#countCode()
    checkRoomData(presence)
    this.#leave(name)
    if (this.#rooms.size >= roomsPerPageMax) {
      throw new ApiError('data_full', { what: `${roomsPerPageMax} rooms of a page` })
    }
    const send = (text: string): void => this.#send(text)
    const by = this.player.id
    this.#rooms.set(name, this.ctx.rooms.join(this.app, name, { by, presence, send }))
  }

  /** Counts an attempt of a network to enter a code, which is short. Throws `data_limit`. */
  #countCode(): void {
    const { client } = this.sender.context
    const { controllerCodes } = this.ctx.state.limits
    const limit = controllerCodes.takeOne(`${this.app} ${client.prefix}`)
    if (limit) throw new ApiError('data_limit', limit)
  }

  #leave(name: string): void {
    this.#rooms.get(name)?.leave()
    this.#rooms.delete(name)
  }

  #joined(name: string): JoinedRoom {
    const joined = this.#rooms.get(name)
    if (joined) return joined
    throw new ApiError('not_found', { what: `room ${name}` })
  }
}

function parseMessage(text: string): Record<string, unknown> {
  try {
    return recordOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/**
 * Turns a request of a page into its live connection. Throws `needs_websocket`, `cross_site`,
 * `busy`, `try_again`, `not_joined`, and what `findPlayer` throws.
 */
export async function openLive(
  ctx: AppContext,
  call: PlayerCall & { context: RequestContext },
  app: string,
): Promise<Upgraded> {
  const { headers, context } = call
  // Any page can open a WebSocket here, with the cookies of the player.
  checkSite(ctx, call)
  const player = await findPlayer(ctx, call, app)
  if (!player.hasJoined) throw new ApiError('not_joined', { app })
  const { sessions, limits } = ctx.state
  if (sessions.size >= livePagesPerServerMax) throw new ApiError('try_again', {})
  const release = takePlace(limits, context.client.prefix, `${app} ${player.id}`)
  const session = new LiveSession(ctx, player, call, release)
  // A page whose connection did not open asks without a WebSocket for the reason.
  const isWebSocket = headers.get('upgrade')?.toLowerCase() === 'websocket'
  const requestId = { 'x-request-id': context.id }
  if (isWebSocket && context.upgrade?.(session, requestId)) return new Upgraded()
  release()
  throw new ApiError('needs_websocket')
}

/** Takes a place of a network and a player. Returns the function that ends it. Throws `busy`. */
function takePlace(
  { networkPages, livePages }: AppContext['state']['limits'],
  network: string,
  player: string,
): () => void {
  const leaveNetwork = networkPages.begin(network)
  if (!leaveNetwork) {
    throw new ApiError('busy', { what: 'live pages of your network', max: networkPages.max })
  }
  const leave = livePages.begin(player)
  if (leave) {
    return () => {
      leave()
      leaveNetwork()
    }
  }
  leaveNetwork()
  throw new ApiError('busy', { what: 'live pages of this app', max: livePages.max })
}

/** Ends live connections that may no longer be open, and keeps the rooms of this server. */
export async function keepLive(ctx: AppContext): Promise<void> {
  ctx.rooms.keep()
  const sessions = [...ctx.state.sessions].filter((one) => one instanceof LiveSession)
  for (const session of sessions) await session.check()
}
