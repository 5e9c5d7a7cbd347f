/**
 * The namespace `room` of `claude.use` over `service.room`: the pages that are open now. It joins
 * with the first use, so that `claude.use` asks nothing. Source: the type definitions that Claude
 * serves to pages (November 2026).
 */
import { type Room, tellAll } from '../bridge/room.ts'
import type { PeersChange, RoomPeer } from '../bridge/service-types.ts'
import { failure, room } from './bridge-calls.ts'
import { claudeError, type Codes } from './claude-error.ts'

type Fields = Record<string, unknown>
type OnError = (error: Error) => void
type Listen<Value> = (value: Value) => void

const codes: Codes = { bad_request: 'invalid_argument', too_large: 'invalid_argument' }
const lobby = 'claude'

interface Peer {
  peer: string
  by: string | null
  /** A page of this player, and this page. */
  isMe: boolean
  sameTab: boolean
  kind: 'viewer'
  guest: boolean
  presence: Fields
  updatedAt: number
}

interface Change {
  peers: readonly Peer[]
  joined: readonly Peer[]
  left: readonly Peer[]
  updated: readonly Peer[]
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A room whose calls wait until it is joined. */
class ClaudeRoom {
  #joining: Promise<Room> | undefined
  #room: Room | undefined
  /** Counts joins and leaves, so that a join knows what came after it. */
  #generation = 0
  /** Null fields are left out: they remove what was set before. */
  #own: Fields = {}
  readonly #known = new Map<string, Peer>()
  #peers: readonly Peer[] = Object.freeze([])
  readonly #onPeers = new Set<Listen<Change>>()
  readonly #onConnection = new Set<Listen<boolean>>()

  constructor(private readonly name: string) {}

  join = (): Promise<Room> => {
    if (this.#joining) return this.#joining
    const joining = this.#begin((this.#generation += 1))
    this.#joining = joining
    joining.catch(() => this.#joining === joining && (this.#joining = undefined))
    return joining
  }

  async #begin(generation: number): Promise<Room> {
    const one = await room.join(this.name)
    if (generation !== this.#generation) {
      // A page is in a room once, so a later join has this one.
      if (this.#joining) return this.#joining
      one.leave()
      throw failure('unavailable', 'The page left the room before it was joined. Join it again.')
    }
    this.#room = one
    one.onPeers((change) => this.#change(one, change))
    tellAll(this.#onConnection, true)
    return one
  }

  #open(one: Room, { peer, by, isMe, presence }: RoomPeer): Peer {
    const mine = one.peers.find((other) => other.isMe)?.by
    const fields = isMe ? this.#own : isFields(presence) ? presence : {}
    const opened: Peer = Object.freeze({
      peer,
      by: by || null,
      isMe: isMe || by === mine,
      sameTab: isMe,
      kind: 'viewer',
      guest: false,
      presence: Object.freeze(fields),
      updatedAt: Date.now(),
    })
    this.#known.set(peer, opened)
    return opened
  }

  #change(one: Room, { joined, left, updated }: PeersChange): void {
    const gone = left.flatMap(({ peer }) => this.#known.get(peer) ?? [])
    for (const { peer } of left) this.#known.delete(peer)
    const open = (rows: RoomPeer[]): Peer[] => rows.map((row) => this.#open(one, row))
    this.#tell({ joined: open(joined), left: gone, updated: open(updated) })
  }

  #tell(change: Omit<Change, 'peers'>): void {
    this.#peers = Object.freeze([...this.#known.values()])
    for (const listener of [...this.#onPeers]) listener({ peers: this.#peers, ...change })
  }

  peers = (): readonly Peer[] => {
    void this.join().catch(() => undefined)
    return this.#peers
  }

  /** Merges fields into what this page shows of itself. Null removes one. */
  presence = async (patch: Fields): Promise<void> => {
    const merged = { ...this.#own, ...patch }
    this.#own = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
    const one = await this.#joined()
    one.presence(this.#own)
    const me = one.peers.find(({ isMe }) => isMe)
    if (me) this.#tell({ joined: [], left: [], updated: [this.#open(one, me)] })
  }

  /** Sends an event to all, also to this page. Throws past 40 a second. */
  emit = async (topic: string, data?: unknown): Promise<void> =>
    (await this.#joined()).emit(topic, data)

  async #joined(): Promise<Room> {
    try {
      return await this.join()
    } catch (error) {
      throw claudeError(error, codes)
    }
  }

  on = (topic: string, listener: Listen<object>, onError?: OnError): (() => void) =>
    this.#listen(
      (one) =>
        one.on(topic, (data, { peer }) => {
          const { presence: _, updatedAt: __, ...sender } = this.#known.get(peer) ?? stranger(peer)
          listener(Object.freeze({ topic, data, ...sender }))
        }),
      onError,
    )

  onPeers = (listener: Listen<Change>, onError?: OnError): (() => void) =>
    this.#listen(() => {
      this.#onPeers.add(listener)
      const peers = this.#peers
      listener({ peers, joined: peers, left: [], updated: [] })
      return () => void this.#onPeers.delete(listener)
    }, onError)

  connected = (): boolean => this.#room !== undefined

  onConnection = (listener: Listen<boolean>, onError?: OnError): (() => void) => {
    this.#onConnection.add(listener)
    void Promise.resolve().then(() => this.#onConnection.has(listener) && listener(!!this.#room))
    this.join().catch((error: unknown) => onError?.(claudeError(error, codes)))
    return () => void this.#onConnection.delete(listener)
  }

  leave = (): void => {
    const left = this.#room
    this.#generation += 1
    this.#room = undefined
    this.#joining = undefined
    this.#known.clear()
    this.#peers = Object.freeze([])
    if (!left) return
    left.leave()
    tellAll(this.#onConnection, false)
  }

  /** Begins to listen when the room is joined. Returns the function that ends it. */
  #listen(begin: (one: Room) => () => void, onError?: OnError): () => void {
    let isOpen = true
    let end: (() => void) | undefined
    this.join().then(
      (one) => void (isOpen && (end = begin(one))),
      (error: unknown) => isOpen && onError?.(claudeError(error, codes)),
    )
    return () => {
      isOpen = false
      end?.()
    }
  }
}

/** The sender of an event who has left since. */
const stranger = (peer: string): Peer => ({
  peer,
  by: null,
  isMe: false,
  sameTab: false,
  kind: 'viewer',
  guest: false,
  presence: {},
  updatedAt: 0,
})

const membersOf = (one: ClaudeRoom) => {
  const { emit, on, presence, peers, onPeers, connected, onConnection, leave } = one
  return { emit, on, presence, peers, onPeers, connected, onConnection, leave }
}

export const claudeRoom = Object.freeze({
  ...membersOf(new ClaudeRoom(lobby)),
  /** Joins another room of the app. */
  async join(name: string) {
    const other = new ClaudeRoom(name)
    await other.join()
    return Object.freeze(membersOf(other))
  },
  /** No conversation with Claude is beside the page. */
  canSendToClaudeSession: async () => 'off',
  sendToClaudeSession: async (): Promise<never> => {
    throw failure('claude_unavailable', 'No conversation with Claude is beside this page.')
  },
})
