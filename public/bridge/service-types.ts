/**
 * Types of `service`, the global of a page: what an app can use of its server. Save this file
 * beside the page as service.d.ts. The guide is docs/apps.md.
 */

/** The codes of errors. Others may follow, so have a branch for them. */
export type ErrorCode =
  | 'not_granted'
  | 'not_found'
  | 'not_own'
  | 'bad_request'
  | 'too_large'
  | 'data_full'
  | 'storage_full'
  | 'document_changed'
  | 'bad_asset'
  | 'asset_too_large'
  | 'not_declared'
  | 'data_limit'
  | 'room_limit'
  | 'too_many_calls'
  | 'guests_limit'
  | 'not_signed_in'
  | 'daily_cap'
  | 'not_enough_credits'
  | 'holds_limit'
  | 'rate_limited'
  | 'no_score'
  | 'bad_json'
  | 'unavailable'
  | 'offline'
  | 'busy'
  | 'try_again'
  | 'taken_down'
  | 'closed'
  | 'cancelled'
  | 'failed'

/** The error of each call. `message` says what to do. */
export interface ServiceError extends Error {
  code: ErrorCode | (string & {})
}

/** `service.ai`: models. The player, or a sponsor, pays. */
export interface Ai {
  /** Chats. Await the reply, or iterate over its text as it arrives. */
  chat(input: string | Message[], options?: ChatOptions): ChatReply
  /** Creates an image, also from other images. */
  image(
    prompt: string,
    options?: CallOptions & { size?: string; images?: Blob[] },
  ): Promise<MadeFile>
  /** Speaks a text. */
  speech(text: string, options?: CallOptions & { voice?: string }): Promise<MadeFile>
  /** Returns what is said in a recording. */
  transcribe(
    recording: Blob,
    options?: CallOptions & { language?: string },
  ): Promise<{ text: string; credits: number }>
  /** Returns the bounds of a call. */
  limits(): Promise<{ textBytesMax: number; fileBytesMax: number }>
}

export interface CallOptions {
  /** The id of a model of this server, or the name of one elsewhere. */
  model?: string
  signal?: AbortSignal
}

/** A message. `content` is a text, or parts as in OpenAI's API. */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: unknown
  [more: string]: unknown
}

export interface ChatOptions extends CallOptions {
  tier?: 'quick' | 'default' | 'complex'
  /** true: the reply is JSON. An object is its JSON schema. */
  json?: boolean | object
  tools?: Tool[]
  /** Pictures for the last message. */
  images?: Blob[]
  maxTokens?: number
  /** Called with each new piece of the text, and all of it so far. */
  onText?: (delta: string, text: string) => void
}

/** A function that the model may call. With `execute`, the page runs it and the chat goes on. */
export interface Tool {
  name: string
  description?: string
  /** JSON schema of the input. */
  parameters?: object
  execute?: (input: unknown) => unknown
}

export interface ToolCall {
  id: string
  name: string
  input: unknown
}

export interface ChatResult {
  text: string
  /** The parsed text of a reply with `json`. */
  json?: unknown
  toolCalls?: ToolCall[]
  /** The reply ended at its limit. */
  truncated: boolean
  credits: number
}

/** A reply: a promise of all of it, and an iterator over its text. */
export type ChatReply = Promise<ChatResult> & AsyncIterable<string>

/** A file that a model made, with a blob: URL of this page. */
export interface MadeFile {
  url: string
  blob: Blob
  credits: number
}

/** `service.store`: JSON values by key, of this player or `shared` by all. */
export interface Store {
  /** Returns a value; null where there is none. */
  get(key: string, options?: StoreOptions): Promise<unknown>
  set(key: string, value: unknown, options?: StoreOptions): Promise<void>
  /** Returns whether there was a value. */
  delete(key: string, options?: StoreOptions): Promise<boolean>
  /** Returns the keys that begin with a prefix, sorted. */
  list(prefix?: string, options?: StoreOptions): Promise<string[]>
}

export interface StoreOptions {
  shared?: boolean
}

/** `service.db`: documents that all players share, live. */
export interface Db {
  collection(path: string): Collection
  doc(path: string): DocumentReference
  /** Writes up to 100 documents, all or none. */
  batch(writes: BatchWrite[]): Promise<void>
  /** Returns the player: an id that only this app has, and the name that they gave it, or ''. */
  me(): Promise<{ id: string; name: string }>
}

export type Data = Record<string, unknown>

/** `own`: only its author may change the document. */
export interface WriteOptions {
  own?: boolean
}

/** A write of a batch, or a check that a document has the version that the page has read. */
export type BatchWrite =
  | { op: 'set'; path: string; data: Data; own?: boolean }
  | { op: 'update'; path: string; data: Data; create?: boolean }
  | { op: 'delete'; path: string }
  | { op: 'check'; path: string; version: number }

export type Comparison =
  '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not-in' | 'array-contains' | 'array-contains-any'

export interface Query {
  where(field: string, op: Comparison, value: unknown): Query
  orderBy(field: string, direction?: 'asc' | 'desc'): Query
  limit(limit: number): Query
  get(): Promise<QuerySnapshot>
  /** Calls `next` now and after each change. Returns the function that ends it. */
  onSnapshot(next: (found: QuerySnapshot) => void, onError?: OnError): () => void
}

export type OnError = (error: ServiceError) => void

export interface Collection extends Query {
  readonly id: string
  readonly path: string
  doc(id: string): DocumentReference
  /** Adds a document, whose id sorts by time. */
  add(data: Data, options?: WriteOptions): Promise<DocumentSnapshot>
}

export interface DocumentReference {
  readonly id: string
  readonly path: string
  collection(name: string): Collection
  get(): Promise<DocumentSnapshot>
  /** Creates or replaces the document. */
  set(data: Data, options?: WriteOptions): Promise<DocumentSnapshot>
  /** Merges fields deeply. Throws `not_found` for a missing document, without `create`. */
  update(data: Data, options?: { create?: boolean }): Promise<DocumentSnapshot>
  /** Returns whether there was a document. */
  delete(): Promise<boolean>
  /** Calls `next` now and after each change. Returns the function that ends it. */
  onSnapshot(next: (document: DocumentSnapshot) => void, onError?: OnError): () => void
  /** Takes the document for a time. `acquired` is false while another holder has it. */
  acquire(lease: { holder: string; ttlMs: number; data?: Data }): Promise<{
    acquired: boolean
    until: string | null
    document: DocumentSnapshot
  }>
}

/** A document as it was read. The optional fields are missing where it does not exist. */
export interface DocumentSnapshot {
  id: string
  path: string
  exists: boolean
  data(): Data | undefined
  author?: string
  version?: number
  created?: string
  updated?: string
}

export interface QuerySnapshot {
  docs: DocumentSnapshot[]
  size: number
  empty: boolean
  forEach(view: (document: DocumentSnapshot) => void): void
  /** Returns the changes since the last snapshot of a listener. */
  docChanges(): { type: 'added' | 'modified' | 'removed'; doc: DocumentSnapshot }[]
}

/** `service.room`: pages that are open now. Nothing of it is stored. */
export interface Rooms {
  join(name: string, options?: { presence?: unknown }): Promise<Room>
  /** Shows a code with which phones become controllers of this page. */
  controller(layout?: { buttons?: string[]; stick?: boolean; tilt?: boolean }): Promise<Controllers>
}

export interface Room {
  readonly name: string
  /** The id of this page in the room. */
  readonly peer: string
  readonly peers: RoomPeer[]
  /** Sends an event to all pages in the room, also to this one. */
  emit(topic: string, data?: unknown): void
  /** Shows the others what this page is. */
  presence(data: unknown): void
  /** A sender that has left has no `by`. Returns the function that ends it. */
  on(topic: string, listener: (data: unknown, from: RoomPeer) => void): () => void
  onPeers(listener: (change: PeersChange) => void): () => void
  leave(): void
}

/** A page in a room. `by` is the id of its player. */
export interface RoomPeer {
  peer: string
  by: string
  isMe: boolean
  presence: unknown
}

export interface PeersChange {
  peers: RoomPeer[]
  joined: RoomPeer[]
  left: RoomPeer[]
  updated: RoomPeer[]
}

/** Phones as controllers. */
export interface Controllers {
  readonly players: ControllerInput[]
  on(type: 'input', listener: (input: ControllerInput) => void): () => void
  on(type: 'join' | 'leave', listener: (event: { player: number }) => void): () => void
  show(): void
  hide(): void
  close(): void
}

/** The state of a controller. Directions are from -1 to 1, to the right and down. */
export interface ControllerInput {
  /** 1 to 8. A phone that comes back keeps its number while it is free. */
  player: number
  /** The buttons that are down, by their names. */
  buttons: Record<string, boolean>
  /** The buttons that were pressed since the last event. */
  pressed: string[]
  stick: { x: number; y: number }
  tilt: { x: number; y: number }
}

/** `service.scores`: boards with the best score of each player. */
export interface Scores {
  submit(score: number, options?: BoardOptions): Promise<Score & { isBest: boolean }>
  top(options?: BoardOptions & { limit?: number }): Promise<Score[]>
  /** Returns the score of this player; null without one. */
  mine(options?: BoardOptions): Promise<Score | null>
  /** Shows the board above the app. Resolves when the player closes it. */
  show(options?: BoardOptions): Promise<void>
  /** Shows the player a link for a friend, with the last submitted score to beat. */
  challenge(): Promise<{ url: string }>
}

export interface BoardOptions {
  /** "main" by default. */
  board?: string
  /** The lowest score is the first, such as a time. */
  lowest?: boolean
}

export interface Score {
  /** 1 is the first. */
  rank: number
  score: number
  /** The name that the player gave the app. */
  name: string
  isMe: boolean
}

/** A score to beat, of a friend whose link this page was opened by. */
export interface Challenge extends BoardOptions {
  /** The seed of the game of the friend, as `service.seed` has it. */
  seed: number
  score: number
  /** The name of the friend. */
  by: string
}

/** `service.files`: pictures, sounds and JSON that all players of the app load. */
export interface Files {
  upload(file: Blob): Promise<{ url: string; type: string; bytes: number }>
}

/** The parts of the bridge: a page that names one gets it. */
export interface Service {
  readonly ai: Ai
  readonly store: Store
  readonly db: Db
  readonly room: Rooms
  readonly scores: Scores
  readonly files: Files
  /** A number of 32 bits: in a challenge that of the friend. */
  readonly seed: Promise<number>
  /** null without a challenge. */
  readonly challenge: Promise<Challenge | null>
}

declare global {
  var service: Service
}
