/**
 * `claude.use(name)` of pages in Claude Code: the namespaces db, room, sample and user, over
 * `service`. Source: the tool descriptions of Claude Code for such pages, as of November
 * 2026.
 */
import type { PeersChange, Room } from '../bridge/room.ts'
import { db, extend, room } from './bridge-calls.ts'
import { sample } from './claude-prompts.ts'

type Listen<Value extends unknown[]> = (...value: Value) => void

const lobby = 'claude'

/** Peers as these pages know them. */
const seen = ({ peer, by, isMe, presence }: Room['peers'][number]) => ({
  peer,
  by,
  isMe,
  sameTab: isMe,
  kind: 'viewer',
  presence,
})

/** A room whose calls wait until it is joined. */
function openRoom(name: string) {
  let joined: Promise<Room> | undefined
  let now: Room | undefined
  const get = (): Promise<Room> => {
    joined ??= room.join(name)
    void joined.then((one) => (now = one)).catch(() => (joined = undefined))
    return joined
  }
  /** Begins to listen now, or when the room is joined. Returns the function that ends it. */
  const listen = (begin: (one: Room) => () => void): (() => void) => {
    let isOpen = true
    let end: (() => void) | undefined
    get().then(
      (one) => void (isOpen && (end = begin(one))),
      () => undefined,
    )
    return () => {
      isOpen = false
      end?.()
    }
  }
  return Object.freeze({
    /** Sends an event to all, also to this page. */
    emit: async (topic: string, data?: unknown) => (await get()).emit(topic, data),
    on: (topic: string, listener: Listen<[data: unknown, from: unknown]>) =>
      listen((one) =>
        one.on(topic, (data, from) => listener(data, typeof from === 'string' ? from : seen(from))),
      ),
    presence: async (data: unknown) => (await get()).presence(data),
    peers: () => (now?.peers ?? []).map(seen),
    onPeers: (listener: Listen<[object]>) =>
      listen((one) =>
        one.onPeers(({ peers, joined: added, left, updated }: PeersChange) =>
          listener({
            peers: peers.map(seen),
            joined: added.map(seen),
            left: left.map(seen),
            updated: updated.map(seen),
          }),
        ),
      ),
    leave: () => now?.leave(),
    ready: get,
  })
}

const main = openRoom(lobby)

const namespaces: Record<string, object> = {
  db,
  sample,
  room: {
    ...main,
    async join(name: string) {
      const other = openRoom(name)
      await other.ready()
      return other
    },
  },
  user: { me: db.me },
  permissions: {
    query: async (name: string) => ({
      name,
      state: Object.hasOwn(namespaces, name) ? 'prompt' : 'denied',
    }),
  },
}

extend('claude', {
  /** Never rejects. Returns null for a name that is not here. */
  use: async (name: string) => (Object.hasOwn(namespaces, name) ? namespaces[name] : null),
})
