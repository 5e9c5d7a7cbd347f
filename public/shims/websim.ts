/**
 * `WebsimSocket` of websim: rooms over `service.room`, records and the state of the room over
 * `service.db`. Source: websim's API guide for pages and public pages that use it, as of November
 * 2026.
 */
import type { Room } from '../bridge/room.ts'
import type { PeersChange } from '../bridge/service-types.ts'
import { db, extend, failure, room } from './bridge-calls.ts'
import { avatarOf, replaceAvatars } from './player-look.ts'
import { createHookValue, type HookValue, provideHook } from './react-hooks.ts'
import { openRecords, usernameOf } from './websim-records.ts'

type Fields = Record<string, unknown>

const lobby = 'websim'
const stateMs = 150

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Unsent fields that replace an object, because an earlier unsent change removed it. */
class Replacement {
  constructor(readonly fields: Fields) {}
}

/** Merges fields deeply. Null removes a field. */
function merged(before: Fields, given: Fields): Fields {
  const next = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(given)) {
    const old = next.get(name)
    if (value === null) next.delete(name)
    else if (value instanceof Replacement) next.set(name, merged({}, value.fields))
    else if (isFields(value)) next.set(name, merged(isFields(old) ? old : {}, value))
    else next.set(name, value)
  }
  return Object.fromEntries(next)
}

/** Merges a change into changes that are still to be sent, in which null stays. */
function mergedUnsent(unsent: Fields, given: Fields): Fields {
  const next = new Map(Object.entries(unsent))
  for (const [name, value] of Object.entries(given)) {
    const old = next.get(name)
    if (!isFields(value)) {
      next.set(name, value)
      continue
    }
    const before = old instanceof Replacement ? old.fields : old
    const fields = mergedUnsent(isFields(before) ? before : {}, value)
    const isOther = next.has(name) && (old instanceof Replacement || !isFields(old))
    next.set(name, isOther ? new Replacement(fields) : fields)
  }
  return Object.fromEntries(next)
}

/** Returns unsent changes for `update`, where null becomes the removal of a field. */
const changesOf = (given: Fields): Fields =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, changeOf(value)]))

function changeOf(value: unknown): unknown {
  if (value === null) return { $remove: true }
  if (value instanceof Replacement) return { $replace: changesOf(value.fields) }
  return isFields(value) ? changesOf(value) : value
}

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
  /** Changes of the state that wait, and those on their way. */
  #waiting: Fields = {}
  #sending: Fields = {}
  #isDue = false
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
    this.#waiting = mergedUnsent(this.#waiting, given)
    void this.#join()
    this.#onState.tell(this.roomState)
    this.#sendLater()
  }

  #sendLater(): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => void this.#send(), stateMs)
  }

  /** Sends the changes that wait. Those that come meanwhile follow, so that they stay in order. */
  async #send(): Promise<void> {
    this.#sending = this.#waiting
    this.#waiting = {}
    const sent = db.doc(`${lobby}/state`).update(changesOf(this.#sending), { create: true })
    await sent.catch((error: unknown) => console.warn(error))
    this.#sending = {}
    this.#isDue = false
    if (Object.keys(this.#waiting).length > 0) this.#sendLater()
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

  query = (): never => {
    const message = 'room.query needs the SQL of websim. Use room.collection(type).filter(fields).'
    throw failure('unavailable', message)
  }

  #join(): Promise<Room> {
    this.#joined ??= this.#begin()
    this.#joined.catch(() => undefined)
    return this.#joined
  }

  async #begin(): Promise<Room> {
    const one = await room.join(lobby)
    one.on('event', (data, { peer: clientId, by }) => {
      const fields = isFields(data) ? data : {}
      // Its sender hears an event, too, unless the event says otherwise.
      if (fields['echo'] === false && clientId === this.clientId) return
      this.onmessage?.({ data: { ...fields, clientId, username: usernameOf(by) } })
    })
    one.on('request', (data, { peer }) => {
      const { to, request } = isFields(data) ? data : {}
      if (to !== this.clientId) return
      this.#onRequest.tell(request, peer)
    })
    one.onPeers((change) => this.#change(one, change))
    await new Promise<void>((ready) => {
      db.doc(`${lobby}/state`).onSnapshot(
        (state) => {
          const stored = merged(state.data() ?? {}, this.#sending)
          this.roomState = merged(stored, this.#waiting)
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
replaceAvatars()

interface QueryState {
  data: unknown[]
  loading: boolean
  error: null
}

/** The records of a list or a filter, which begin to load with the first hook. */
const queries = new WeakMap<object, HookValue<QueryState>>()

function openQuery(query: ReturnType<typeof openRecords>): HookValue<QueryState> {
  const known = queries.get(query)
  if (known) return known
  const value = createHookValue<QueryState>({ data: [], loading: true, error: null })
  queries.set(query, value)
  query.subscribe((data) => value.set({ data, loading: false, error: null }))
  return value
}

/** `const { data, loading } = useQuery(room.collection(type))` of "@websim/use-query". */
provideHook(
  'service.websim.useQuery',
  ({ useSyncExternalStore }) =>
    (query: ReturnType<typeof openRecords>) => {
      const { subscribe, get } = openQuery(query)
      return useSyncExternalStore(subscribe, get)
    },
)
