import {
  flag,
  index,
  integer,
  json,
  nano,
  primaryKey,
  table,
  text,
  time,
} from '../../kernel/db/columns.ts'
import type { Use } from '../uses/uses.ts'

/** Consents of players to the uses of an app, by a press on the bar of its page. */
export const consents = table(
  'consents',
  {
    app: text('app').notNull(),
    person: text('person').notNull(),
    /** The uses that the bar named; none after the player revoked them. */
    uses: json<Use[]>('uses').notNull(),
    /** The most that the app may spend of the player's credits on a UTC day. */
    dailyCap: nano('daily_cap').notNull(),
    /** The margin of the maker, in percent, that the bar named. */
    margin: integer('margin').notNull().default(0),
    /** Holds until revoked. Otherwise it ends with the UTC day. */
    isRemembered: flag('remembered').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.app, t.person] }), index('consents_person').on(t.person, t.at)],
)

/** Makers who pay for the models of an app, with their caps of a UTC day. */
export const sponsors = table('sponsors', {
  app: text('app').primaryKey(),
  dailyCap: nano('daily_cap').notNull(),
  /** The cap of each player. */
  playerCap: nano('player_cap').notNull(),
  at: time('at').notNull(),
})

/** The average cost of the newest calls of chat models by an app, without a margin. */
export const appTurns = table('app_turns', {
  app: text('app').primaryKey(),
  cost: nano('cost').notNull(),
  turns: integer('turns').notNull(),
})
