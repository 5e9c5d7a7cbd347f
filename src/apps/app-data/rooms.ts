import type { Signals } from '../../kernel/db/signals.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { RateLimit } from '../../kernel/rate-limit.ts'
import { recordOf } from '../../kernel/schema.ts'
import { type Clock, second } from '../../kernel/time.ts'
import { presenceMs, roomMessagesPerSecond, roomPlayersMax } from './limits.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The rooms of apps whose players have a page open here. */
    readonly rooms: Rooms
  }
}

/** A page in a room, as the others see it. */
export interface Peer {
  peer: string
  /** The player, by the id of the app. */
  by: string
  presence: unknown
}

/** A page of this process in a room. */
interface Member extends Peer {
  send(text: string): void
}

/** A page that another server holds. */
interface RemotePeer extends Peer {
  seen: number
}

interface Room {
  app: string
  name: string
  members: Map<string, Member>
  remote: Map<string, RemotePeer>
  /** Members whose presence changed since the last event. */
  moved: Set<string>
  /** Runs for a moment after an event about presence. */
  timer: Timer | undefined
}

/** Messages between the servers of a database. `alive` lists the peers of a server now and then. */
type Kind = 'join' | 'left' | 'presence' | 'event' | 'ask' | 'alive'

const remoteMs = 30 * second
const peersPerMessage = 16

const shown = ({ peer, by, presence }: Peer): Peer => ({ peer, by, presence })
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const keyOf = (app: string, name: string): string => `${app} ${name}`

/**
 * The rooms of apps: who is there, what each shows of itself, and events for all. Nothing of it is
 * stored. Servers of one database tell each other by signals.
 */
export class Rooms {
  readonly #rooms = new Map<string, Room>()
  readonly #events: RateLimit
  #sent = 0

  constructor(private readonly ctx: { signals: Signals; clock: Clock }) {
    this.#events = new RateLimit(ctx.clock, roomMessagesPerSecond, second)
    ctx.signals.on('rooms', (value) => {
      if (value !== undefined) return this.#receive(JSON.parse(value))
      for (const room of this.#rooms.values()) this.#signal(room, 'ask', null)
    })
  }

  /** Adds a page to a room, and returns what it joined. Throws `data_full`. */
  join(app: string, name: string, member: Omit<Member, 'peer'>): JoinedRoom {
    const key = keyOf(app, name)
    const known = this.#rooms.get(key)
    if (known && known.members.size + known.remote.size >= roomPlayersMax) {
      throw new ApiError('data_full', { what: `${roomPlayersMax} players of a room` })
    }
    const room = known ?? { ...emptyRoom(), app, name }
    this.#rooms.set(key, room)
    const own = { ...member, peer: newId() }
    const others = [...room.members.values(), ...room.remote.values()].map(shown)
    this.#tell(room, { joined: [shown(own)] })
    room.members.set(own.peer, own)
    own.send(roomText(room, { you: own.peer, peers: [...others, shown(own)] }))
    if (!known) this.#signal(room, 'ask', null)
    this.#signal(room, 'join', [shown(own)])
    return {
      emit: (topic, data) => this.#emit(room, own, topic, data),
      setPresence: (data) => this.#setPresence(room, own, data),
      leave: () => this.#leave(room, own),
    }
  }

  /** Sends an event to all pages of a room, also to its sender. Throws `room_limit`. */
  #emit(room: Room, { peer, by }: Member, topic: string, data: unknown): void {
    const wait = this.#events.takeOne(`${room.app} ${by}`)
    if (wait) throw new ApiError('room_limit', wait)
    const event = { topic, data, from: peer }
    this.#send(room, eventText(room, event))
    this.#signal(room, 'event', event)
  }

  /** Shows what a page is: at once, and of fast changes the newest. */
  #setPresence(room: Room, own: Member, data: unknown): void {
    own.presence = data
    room.moved.add(own.peer)
    if (room.timer === undefined) this.#tellMoved(room)
  }

  #tellMoved(room: Room): void {
    room.timer = undefined
    const moved = [...room.moved].flatMap((peer) => room.members.get(peer) ?? [])
    if (moved.length === 0) return
    room.moved.clear()
    const presence = Object.fromEntries(moved.map((one) => [one.peer, one.presence]))
    this.#tell(room, { presence })
    this.#signal(room, 'presence', presence)
    room.timer = setTimeout(() => this.#tellMoved(room), presenceMs)
  }

  #leave(room: Room, { peer }: Member): void {
    if (!room.members.delete(peer)) return
    room.moved.delete(peer)
    this.#tell(room, { left: [peer] })
    this.#signal(room, 'left', [peer])
    if (room.members.size > 0) return
    clearTimeout(room.timer)
    this.#rooms.delete(keyOf(room.app, room.name))
  }

  /** Tells the other servers which pages are here, and forgets those of servers that ended. */
  keep(): void {
    const before = this.ctx.clock.now() - remoteMs
    for (const room of this.#rooms.values()) {
      this.#signal(room, 'alive', [...room.members.keys()])
      const gone = [...room.remote.values()].filter(({ seen }) => seen < before)
      this.#forget(
        room,
        gone.map(({ peer }) => peer),
      )
    }
  }

  #signal(room: Room, kind: Kind, payload: unknown): void {
    this.#sent += 1
    // The number keeps equal messages apart, of which a signal would send one.
    const message = [kind, room.app, room.name, payload, this.#sent]
    void this.ctx.signals.send('rooms', JSON.stringify(message))
  }

  #receive(message: unknown): void {
    const [kind, app, name, payload] = listOf(message)
    const room = this.#rooms.get(keyOf(String(app), String(name)))
    if (!room) return
    if (kind === 'event') this.#send(room, eventText(room, recordOf(payload)))
    else if (kind === 'join') this.#addRemote(room, listOf(payload))
    else if (kind === 'left') this.#forget(room, listOf(payload).map(String))
    else if (kind === 'presence') this.#moveRemote(room, recordOf(payload))
    else if (kind === 'alive') this.#seeRemote(room, listOf(payload).map(String))
    else this.#introduce(room)
  }

  /** Tells another server, which has a first page in the room, of the pages here. */
  #introduce(room: Room): void {
    const peers = [...room.members.values()].map(shown)
    for (let at = 0; at < peers.length; at += peersPerMessage) {
      this.#signal(room, 'join', peers.slice(at, at + peersPerMessage))
    }
  }

  #addRemote(room: Room, peers: unknown[]): void {
    const seen = this.ctx.clock.now()
    const joined = peers.flatMap((one): Peer[] => {
      const { peer, by, presence } = recordOf(one)
      const isNew = typeof peer === 'string' && !room.remote.has(peer)
      return isNew && room.remote.size < roomPlayersMax ? [{ peer, by: String(by), presence }] : []
    })
    for (const one of joined) room.remote.set(one.peer, { ...one, seen })
    if (joined.length > 0) this.#tell(room, { joined })
  }

  #moveRemote(room: Room, presence: Record<string, unknown>): void {
    for (const [peer, data] of Object.entries(presence)) {
      const known = room.remote.get(peer)
      if (known) known.presence = data
    }
    this.#tell(room, { presence })
  }

  #seeRemote(room: Room, peers: string[]): void {
    const seen = this.ctx.clock.now()
    for (const peer of peers) {
      const known = room.remote.get(peer)
      if (known) known.seen = seen
    }
    if (peers.some((peer) => !room.remote.has(peer))) this.#signal(room, 'ask', null)
  }

  #forget(room: Room, peers: string[]): void {
    const left = peers.filter((peer) => room.remote.delete(peer))
    if (left.length > 0) this.#tell(room, { left })
  }

  #tell(room: Room, change: object): void {
    this.#send(room, roomText(room, change))
  }

  #send({ members }: Room, text: string): void {
    for (const member of members.values()) member.send(text)
  }
}

/** A room, as a page in it uses it. */
export interface JoinedRoom {
  emit(topic: string, data: unknown): void
  setPresence(data: unknown): void
  leave(): void
}

const emptyRoom = () => ({
  members: new Map<string, Member>(),
  remote: new Map<string, RemotePeer>(),
  moved: new Set<string>(),
  timer: undefined,
})

const roomText = ({ name }: Room, change: object): string =>
  JSON.stringify({ type: 'room', room: name, ...change })
const eventText = ({ name }: Room, event: object): string =>
  JSON.stringify({ type: 'event', room: name, ...event })
