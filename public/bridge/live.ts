import { field } from '../frame/messages.ts'
import { CallError } from './protocol.ts'
import { callServer } from './server.ts'

/** Pauses between attempts to connect again. */
const firstPauseMs = 300
const pauseMsMax = 15_000
/** The server ends a connection with a longer message. */
const messageCharsMax = 65_536
/** The server ends a connection so when the app was withdrawn, or floods it. */
const policyCode = 1008
const policyError = (): CallError =>
  new CallError('closed', 'The server closed the live connection. Open the app again.')
/** Errors of a connection that the next attempt would meet again. */
const lasting = ['not_found', 'taken_down', 'not_joined', 'not_declared']
/** The error of one page too many. It passes when another page closes. */
const busy = 'busy'
const reasonMs = 10_000
/** The newest presence is sent at most 40 times a second, as the server passes it on. */
const presenceMs = 25

/** The listener of what the server sends about a watch or a room. */
export interface Listener {
  event(event: unknown): void
  fail(error: CallError): void
}

/** A watch or a room of the page. */
interface Use extends Listener {
  /** The server has sent something for it. */
  isServed: boolean
}

interface Watch extends Use {
  /** `query` or `path`. */
  of: object
  /** The version of the documents that the app has. */
  since: number | undefined
}

interface Room extends Use {
  presence: unknown
}

/** Ends the uses that an error ends: those that the server has served wait for a place again. */
function fail<Key>(uses: Map<Key, Use>, error: CallError): void {
  for (const [key, use] of uses) {
    if (error.code === busy && use.isServed) continue
    uses.delete(key)
    use.fail(error)
  }
}

/** Returns a function that calls `send` at once, and of fast calls one each `presenceMs`. */
function coalesce(send: () => void): { run(): void; end(): void } {
  let timer = 0
  let isDue = false
  const run = (): void => {
    isDue = timer !== 0
    if (isDue) return
    send()
    timer = window.setTimeout(() => {
      timer = 0
      if (isDue) run()
    }, presenceMs)
  }
  return { run, end: () => clearTimeout(timer) }
}

/**
 * The connection of this page to the server, for documents that it watches and rooms. It opens with
 * the first use, and again after each end: what the app uses is then sent again.
 */
export class LiveConnection {
  #socket: WebSocket | undefined
  #pauseMs = firstPauseMs
  #timer = 0
  #last = 0
  readonly #watches = new Map<number, Watch>()
  readonly #rooms = new Map<string, Room>()

  constructor(private readonly app: string) {}

  /** Watches a query or a document. Returns functions that end it, or ask for all documents. */
  watch(of: object, listener: Listener): { end(): void; restart(): void } {
    this.#last += 1
    const number = this.#last
    const watch: Watch = { ...listener, isServed: false, of, since: undefined }
    this.#watches.set(number, watch)
    const begin = (): void =>
      this.#send({ type: 'watch', watch: number, ...of, since: watch.since })
    this.#open(begin)
    return {
      end: () => {
        if (this.#watches.delete(number)) this.#send({ type: 'unwatch', watch: number })
      },
      restart: () => {
        watch.since = undefined
        begin()
      },
    }
  }

  /** Joins a room, which this page may join once. */
  join(room: string, presence: unknown, listener: Listener) {
    const joined: Room = { ...listener, isServed: false, presence }
    const moved = coalesce(() => this.#send({ type: 'presence', room, data: joined.presence }))
    this.#rooms.set(room, joined)
    this.#open(() => this.#send({ type: 'join', room, presence }))
    return {
      emit: (topic: unknown, data: unknown) => this.#send({ type: 'emit', room, topic, data }),
      /** Sends a presence at once, and of fast ones the newest. */
      setPresence: (data: unknown) => {
        joined.presence = data
        moved.run()
      },
      leave: () => {
        moved.end()
        if (this.#rooms.get(room) !== joined) return
        this.#rooms.delete(room)
        this.#send({ type: 'leave', room })
      },
    }
  }

  #send(message: object): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    const text = JSON.stringify(message)
    if (text.length <= messageCharsMax) return this.#socket.send(text)
    const about = `A message has at most ${messageCharsMax} characters. Send less.`
    this.#receive({ ...message, error: { code: 'too_large', message: about } })
  }

  /** Runs `begin` on an open connection. Without one, the next connection begins everything. */
  #open(begin: () => void): void {
    if (this.#socket) return begin()
    const url = new URL(`/api/apps/${this.app}/live`, location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    const socket = new WebSocket(url)
    this.#socket = socket
    let hasOpened = false
    socket.onopen = () => {
      hasOpened = true
      this.#pauseMs = firstPauseMs
      for (const [watch, { of, since }] of this.#watches) {
        this.#send({ type: 'watch', watch, ...of, since })
      }
      for (const [room, { presence }] of this.#rooms) this.#send({ type: 'join', room, presence })
    }
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)))
    socket.onclose = ({ code }) => void this.#closed(code, hasOpened)
  }

  async #closed(code: number, hasOpened: boolean): Promise<void> {
    this.#socket = undefined
    if (this.#isUnused()) return
    const error = code === policyCode ? policyError() : hasOpened ? undefined : await this.#reason()
    if (error) {
      fail(this.#watches, error)
      fail(this.#rooms, error)
      if (this.#isUnused()) return
      console.warn(error.message)
      this.#pauseMs = pauseMsMax
    }
    // Pages of a server that restarts connect at different times.
    const pause = this.#pauseMs * (0.5 + Math.random())
    this.#pauseMs = Math.min(2 * this.#pauseMs, pauseMsMax)
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => this.#open(() => undefined), pause)
  }

  #isUnused(): boolean {
    return this.#watches.size + this.#rooms.size === 0
  }

  /**
   * Returns the error of a connection that did not open, which a browser hides. Returns undefined
   * where the next attempt may succeed.
   */
  async #reason(): Promise<CallError | undefined> {
    const signal = AbortSignal.timeout(reasonMs)
    try {
      await callServer({ app: this.app, signal }, 'GET', '/live')
    } catch (error) {
      if (error instanceof CallError && [busy, ...lasting].includes(error.code)) return error
    }
    return undefined
  }

  #receive(event: unknown): void {
    const [number, room] = [Number(field(event, 'watch')), String(field(event, 'room'))]
    const watch = this.#watches.get(number)
    const user = watch ?? this.#rooms.get(room)
    const error = field(event, 'error')
    if (error === undefined) {
      if (user) user.isServed = true
      if (watch) watch.since = Number(field(event, 'version'))
      return user?.event(event)
    }
    const message = String(field(error, 'message'))
    user?.fail(new CallError(String(field(error, 'code')), message))
    if (watch) this.#watches.delete(number)
  }
}
