import {
  flag,
  index,
  integer,
  json,
  primaryKey,
  real,
  table,
  text,
  time,
} from '../../kernel/db/columns.ts'
import type { Json } from '../../kernel/schema.ts'
import type { SharingUse } from '../uses/uses.ts'

/** The shared data of an app as a whole. A write locks the row, and so gets the next version. */
export const spaces = table('app_spaces', {
  app: text('app').primaryKey(),
  /** Counts the changes of its documents. */
  version: integer('version').notNull(),
  documents: integer('documents').notNull(),
  documentBytes: integer('document_bytes').notNull(),
  /** Bytes and number of the shared values. */
  valueBytes: integer('value_bytes').notNull(),
  values: integer('value_count').notNull(),
  /** Removals of documents up to this version are forgotten. */
  forgotten: integer('forgotten').notNull(),
})

/** A player of an app, by an id that is different in each app. */
export const players = table(
  'app_players',
  {
    app: text('app').notNull(),
    id: text('id').notNull(),
    /** The signed-in person, or the agent that plays in a chat; null for a guest of one browser. */
    person: text('person'),
    /** The name that the player gave the app. */
    name: text('name'),
    /** The player agreed to share data with the other players and the maker. */
    joined: time('joined'),
    /** The uses that the player agreed to; null in a row from before these were recorded. */
    uses: json<SharingUse[]>('uses'),
    /** Bytes and number of the personal values. */
    valueBytes: integer('value_bytes').notNull(),
    values: integer('value_count').notNull(),
    created: time('created').notNull(),
  },
  (t) => [primaryKey({ columns: [t.app, t.id] }), index('app_players_person').on(t.person)],
)

/** Values by key: those of a player, and those that all players share (`owner` is empty). */
export const values = table(
  'app_values',
  {
    app: text('app').notNull(),
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    /** The player who wrote it last. */
    author: text('author').notNull(),
    value: json<unknown>('value').notNull(),
    bytes: integer('bytes').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [primaryKey({ columns: [t.app, t.owner, t.key] })],
)

/** Files that players give to an app, for all its players. Their bytes are in the storage. */
export const uploads = table(
  'app_uploads',
  {
    app: text('app').notNull(),
    /** A random name, which cannot be guessed, with the ending of its type. */
    name: text('name').notNull(),
    author: text('author').notNull(),
    type: text('type').notNull(),
    bytes: integer('bytes').notNull(),
    sha256: text('sha256').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.name] }),
    index('app_uploads_author').on(t.app, t.author),
    index('app_uploads_sha256').on(t.sha256),
  ],
)

/** The best score of each player on the boards of an app. */
export const scores = table(
  'app_scores',
  {
    app: text('app').notNull(),
    board: text('board').notNull(),
    /** The lowest score is the first: another board of the same name. */
    lowest: flag('lowest').notNull(),
    player: text('player').notNull(),
    score: real('score').notNull(),
    /** When the player got it. */
    at: time('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.board, t.lowest, t.player] }),
    index('app_scores_order').on(t.app, t.board, t.lowest, t.score),
  ],
)

/** Scores to beat, which their players sent to friends as links. */
export const challenges = table(
  'app_challenges',
  {
    app: text('app').notNull(),
    id: text('id').notNull(),
    /** The player whose score it is. */
    player: text('player').notNull(),
    board: text('board').notNull(),
    lowest: flag('lowest').notNull(),
    /** The seed of the game, the same for both. */
    seed: integer('seed').notNull(),
    score: real('score').notNull(),
    created: time('created').notNull(),
    /** The best score of another player who opened the link, and the player. */
    best: real('best'),
    bestPlayer: text('best_player'),
    bestAt: time('best_at'),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.id] }),
    index('app_challenges_player').on(t.app, t.player, t.created),
    index('app_challenges_created').on(t.created),
  ],
)

/** Documents of an app. A removed one stays for a while without data (`removalsPerAppMax`). */
export const documents = table(
  'app_documents',
  {
    app: text('app').notNull(),
    collection: text('collection').notNull(),
    id: text('id').notNull(),
    /** Version of the app's data with its last change. */
    version: integer('version').notNull(),
    /** The player who created it. */
    author: text('author').notNull(),
    /** The player who changed it last. */
    editor: text('editor').notNull(),
    /** Only its author may change it. */
    own: flag('own').notNull(),
    data: json<Json>('data'),
    bytes: integer('bytes').notNull(),
    /** A lease: the player and the name that holds it, until when. */
    holder: text('holder'),
    heldUntil: time('held_until'),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.collection, t.id] }),
    index('app_documents_changes').on(t.app, t.collection, t.version),
    index('app_documents_versions').on(t.app, t.version),
  ],
)
