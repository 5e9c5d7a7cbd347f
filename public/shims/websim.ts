/**
 * `WebsimSocket` of websim: rooms over `service.room`, records and the state of the room over
 * `service.db`. Source: websim's API guide for pages and public pages that use it, as of November
 * 2026.
 */
import type { PeersChange, Room } from '../bridge/room.ts'
import { db, extend, room } from './bridge-calls.ts'
import { openRecords, usernameOf } from './websim-records.ts'

type Fields = Record<string, unknown>

const lobby = 'websim'
const stateMs = 150

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Merges fields deeply. Null removes a field; in changes that are still to be sent it stays. */
function merged(before: Fields, given: Fields, isUnsent = false): Fields {
  const next = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(given)) {
    const old = next.get(name)
    if (value === null && !isUnsent) next.delete(name)
    else if (!isFields(value)) next.set(name, value)
    else next.set(name, merged(isFields(old) ? old : {}, value, isUnsent))
  }
  return Object.fromEntries(next)
}

/** Returns fields for `update`, where null becomes the removal of a field. */
const withRemovals = (given: Fields): Fields =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === null ? { $remove: true } : isFields(value) ? withRemovals(value) : value,
    ]),
  )

class Listeners<Value extends unknown[]> {
  readonly #all = new Set<(...value: Value) => void>()

  readonly add = (listener: (...value: Value) => void): (() => void) => {
    this.#all.add(listener)
    return () => void this.#all.delete(listener)
  }

  tell(...value: Value): void {
    for (const listener of [...this.#all]) listener(...value)
  }
}

class WebsimSocket {
  clientId = ''
  peers: Record<string, { id: string; username: string; avatarUrl: string }> = {}
  presence: Record<string, unknown> = {}
  roomState: Fields = {}
  onmessage: ((event: { data: Fields }) => void) | null = null
  #own: Fields = {}
  #joined: Promise<Room> | undefined
  #waiting: Fields = {}
  #timer = 0
  readonly #onPresence = new Listeners<[Record<string, unknown>]>()
  readonly #onState = new Listeners<[Fields]>()
  readonly #onRequest = new Listeners<[unknown, string]>()
  readonly #onPeers = new Listeners<[typeof this.peers]>()

  readonly party = (() => {
    const self = this
    return {
      get client() {
        return self.peers[self.clientId]
      },
      get peers() {
        return self.peers
      },
      subscribe: (listener: (peers: WebsimSocket['peers']) => void) => {
        void this.#join()
        return this.#onPeers.add(listener)
      },
    }
  })()

  /** Resolves when the room is joined and its state is known. */
  async initialize(): Promise<void> {
    await this.#join()
  }

  updatePresence(given: Fields): void {
    this.#own = merged(this.#own, given)
    void this.#join().then((one) => {
      one.presence(this.#own)
      this.presence = { ...this.presence, [this.clientId]: this.#own }
      this.#onPresence.tell(this.presence)
    })
  }

  /** Of fast changes the others get the newest. */
  updateRoomState(given: Fields): void {
    this.roomState = merged(this.roomState, given)
    this.#waiting = merged(this.#waiting, given, true)
    void this.#join()
    this.#onState.tell(this.roomState)
    this.#timer ||= window.setTimeout(() => {
      const data = withRemovals(this.#waiting)
      this.#timer = 0
      this.#waiting = {}
      void db.doc(`${lobby}/state`).update(data, { create: true })
    }, stateMs)
  }

  requestPresenceUpdate(to: string, request: unknown): void {
    void this.#join().then((one) => {
      try {
        one.emit('request', { to, request })
      } catch (error) {
        // Games ask in each frame, and no page catches it.
        console.warn(error)
      }
    })
  }

  send(event: Fields): void {
    void this.#join().then((one) => one.emit('event', event))
  }

  subscribePresence(listener: (presence: Record<string, unknown>) => void): () => void {
    void this.#join()
    return this.#onPresence.add(listener)
  }

  subscribeRoomState(listener: (state: Fields) => void): () => void {
    void this.#join()
    return this.#onState.add(listener)
  }

  subscribePresenceUpdateRequests(listener: (request: unknown, from: string) => void): () => void {
    void this.#join()
    return this.#onRequest.add(listener)
  }

  onPeersChanged(listener: (peers: WebsimSocket['peers']) => void): () => void {
    return this.party.subscribe(listener)
  }

  collection(type: string) {
    return openRecords(type)
  }

  #join(): Promise<Room> {
    this.#joined ??= this.#begin()
    this.#joined.catch(() => undefined)
    return this.#joined
  }

  async #begin(): Promise<Room> {
    const one = await room.join(lobby)
    one.on('event', (data, from) => {
      const [clientId, by] = typeof from === 'string' ? [from, ''] : [from.peer, from.by]
      const fields = isFields(data) ? data : {}
      this.onmessage?.({ data: { ...fields, clientId, username: usernameOf(by) } })
    })
    one.on('request', (data, from) => {
      const { to, request } = isFields(data) ? data : {}
      if (to !== this.clientId) return
      this.#onRequest.tell(request, typeof from === 'string' ? from : from.peer)
    })
    one.onPeers((change) => this.#change(one, change))
    await new Promise<void>((ready) => {
      db.doc(`${lobby}/state`).onSnapshot(
        (state) => {
          this.roomState = merged(state.data() ?? {}, this.#waiting)
          this.#onState.tell(this.roomState)
          ready()
        },
        () => ready(),
      )
    })
    return one
  }

  #change(one: Room, { peers, joined, left }: PeersChange): void {
    this.clientId = one.peer
    this.peers = Object.fromEntries(
      peers.map(({ peer, by }) => [
        peer,
        { id: peer, username: usernameOf(by), avatarUrl: avatarOf(by) },
      ]),
    )
    this.presence = Object.fromEntries(
      peers.map(({ peer, presence, isMe }) => [peer, isMe ? this.#own : (presence ?? {})]),
    )
    for (const [type, list] of [
      ['connected', joined],
      ['disconnected', left],
    ] as const) {
      for (const { peer, by, isMe } of list) {
        const data = { type, clientId: peer, username: usernameOf(by) }
        if (!isMe) this.onmessage?.({ data })
      }
    }
    if (joined.length + left.length > 0) this.#onPeers.tell(this.peers)
    this.#onPresence.tell(this.presence)
  }
}

/** Returns a picture of a player: a disc in a color of their id. */
function avatarOf(player: string): string {
  const hue = [...player].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 360, 7)
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='hsl(${hue} 60% 55%)'/></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

async function getUser() {
  const { id } = await db.me()
  return { id, username: usernameOf(id), avatar_url: avatarOf(id) }
}

Object.defineProperty(window, 'WebsimSocket', {
  value: WebsimSocket,
  writable: true,
  configurable: true,
})
extend('websim', {
  getUser,
  getCurrentUser: getUser,
  getCreator: async () => ({ id: '', username: 'maker' }),
  getCurrentProject: async () => ({ id: '', title: document.title }),
})
