import { field } from '../frame/messages.ts'
import type { Bridge, RunningCall } from './bridge.ts'
import { bytesOf, CallError, toJson } from './protocol.ts'
import type { PeersChange, RoomPeer } from './service-types.ts'

type Listen<Value extends unknown[]> = (...value: Value) => void

const eventsPerSecond = 40
const dataBytesMax = 4_096

/** Returns the error for an event or a presence that is too large for all pages of a room. */
function sizeError(data: unknown): CallError | undefined {
  const length = bytesOf(toJson(data))
  if (length <= dataBytesMax) return undefined
  const message = `These are ${length} bytes of JSON. A room takes at most ${dataBytesMax}.`
  return new CallError('too_large', message)
}

/** When this page sent its last events, in all its rooms. */
let sent: number[] = []

const rowsIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Calls all listeners, also when one throws. */
export function tellAll<Value extends unknown[]>(
  listeners: Iterable<Listen<Value>>,
  ...value: Value
): void {
  for (const listener of [...listeners]) {
    try {
      listener(...value)
    } catch (error) {
      reportError(error)
    }
  }
}

/** A room that this page has joined. */
export class JoinedRoom {
  #me = ''
  readonly #peers = new Map<string, RoomPeer>()
  readonly #onPeers = new Set<Listen<[PeersChange]>>()
  readonly #onEvent = new Map<string, Set<Listen<[data: unknown, from: RoomPeer]>>>()
  running: RunningCall<undefined> | undefined

  constructor(
    readonly name: string,
    readonly leave: () => void,
  ) {}

  get peer(): string {
    return this.#me
  }

  get peers(): RoomPeer[] {
    return [...this.#peers.values()]
  }

  /**
   * Sends an event to all pages in the room, also to this one. Throws `room_limit` past 40 a
   * second, `too_large` past 4 KB, and `bad_request` for a function.
   */
  emit(topic: string, data?: unknown): void {
    const error = sizeError(data)
    if (error) throw error
    const now = performance.now()
    sent = sent.filter((at) => now - at < 1_000)
    if (sent.length >= eventsPerSecond) {
      const message = `A player sends at most ${eventsPerSecond} events a second.`
      throw new CallError('room_limit', message)
    }
    this.running?.send({ type: 'emit', topic: String(topic), data })
    sent.push(now)
  }

  /** Shows the others what this page is. Of fast changes they get the newest. */
  presence(data: unknown): void {
    const error = sizeError(data)
    if (error) return console.warn(error.message)
    this.running?.send({ type: 'presence', data })
    const me = this.#peers.get(this.#me)
    if (me) this.#peers.set(this.#me, { ...me, presence: data })
  }

  /** Calls the listener for each event. A sender that has left has no player: `by` is ''. */
  on(topic: string, listener: Listen<[data: unknown, from: RoomPeer]>): () => void {
    const all = this.#onEvent.get(topic) ?? new Set()
    this.#onEvent.set(topic, all.add(listener))
    return () => void all.delete(listener)
  }

  onPeers(listener: Listen<[PeersChange]>): () => void {
    this.#onPeers.add(listener)
    if (this.#me !== '') listener({ peers: this.peers, joined: this.peers, left: [], updated: [] })
    return () => void this.#onPeers.delete(listener)
  }

  take(event: unknown): void {
    if (field(event, 'error')) return console.warn(field(field(event, 'error'), 'message'))
    if (field(event, 'type') === 'event') {
      const peer = String(field(event, 'from'))
      const left = Object.freeze({ peer, by: '', isMe: false, presence: null })
      const listeners = this.#onEvent.get(String(field(event, 'topic'))) ?? []
      return tellAll(listeners, field(event, 'data'), this.#peers.get(peer) ?? left)
    }
    this.#change(event)
  }

  #change(event: unknown): void {
    const before = new Map(this.#peers)
    const all = field(event, 'peers')
    if (Array.isArray(all)) {
      this.#me = String(field(event, 'you'))
      this.#peers.clear()
    }
    for (const row of [...rowsIn(all), ...rowsIn(field(event, 'joined'))]) {
      const peer = String(field(row, 'peer'))
      const by = String(field(row, 'by'))
      const presence = field(row, 'presence')
      this.#peers.set(peer, Object.freeze({ peer, by, isMe: peer === this.#me, presence }))
    }
    for (const peer of rowsIn(field(event, 'left'))) this.#peers.delete(String(peer))
    const updated: RoomPeer[] = []
    for (const [peer, presence] of Object.entries(Object(field(event, 'presence')))) {
      const known = this.#peers.get(peer)
      // What this page shows of itself is newer than what comes back.
      if (!known || peer === this.#me) continue
      const moved = Object.freeze({ ...known, presence })
      this.#peers.set(peer, moved)
      updated.push(moved)
    }
    const joined = this.peers.filter(({ peer }) => !before.has(peer))
    const left = [...before.values()].filter(({ peer }) => !this.#peers.has(peer))
    if (joined.length + left.length + updated.length > 0) {
      tellAll(this.#onPeers, { peers: this.peers, joined, left, updated })
    }
  }
}

export type Room = JoinedRoom

/** `service.room`: pages that are open now. Nothing of it is stored. */
export function openRooms(call: Bridge) {
  const rooms = new Map<string, Promise<Room>>()
  const join = (name: string, presence: unknown): Promise<Room> =>
    new Promise((resolve, reject) => {
      const end = new AbortController()
      const leave = (): void => {
        rooms.delete(name)
        end.abort()
      }
      const room = new JoinedRoom(name, leave)
      const onEvent = (event: unknown): void => {
        room.take(event)
        resolve(room)
      }
      const options = { onEvent, signal: end.signal }
      room.running = call<undefined>('room.join', { room: name, presence }, options)
      room.running.result.catch((error: unknown) => {
        rooms.delete(name)
        reject(error)
      })
    })
  return Object.freeze({
    /** Joins a room. A page is in a room once. Throws `too_large` past 4 KB of presence. */
    async join(name: string, { presence = null }: { presence?: unknown } = {}): Promise<Room> {
      const error = sizeError(presence)
      if (error) throw error
      const known = rooms.get(name) ?? join(name, presence)
      rooms.set(name, known)
      return known
    },
  })
}
