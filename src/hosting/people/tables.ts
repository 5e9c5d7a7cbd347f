import { flag, index, table, text, time } from '../../db/columns.ts'

/** A person who signs in at the web. */
export const people = table('people', {
  id: text('id').primaryKey(),
  /** A name or an e-mail address, in small letters. */
  name: text('name').notNull().unique(),
  /** argon2id; none for who is vouched for by a proxy. */
  password: text('password'),
  operator: flag('operator').notNull().default(false),
  /** The gateway account that holds this person's credits. */
  wallet: text('wallet').notNull().unique(),
  created: time('created').notNull(),
})

/** A browser that is signed in. Only the SHA-256 of its cookie is kept. */
export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    hash: text('hash').notNull().unique(),
    person: text('person').notNull(),
    /** What the browser calls itself. */
    browser: text('browser').notNull(),
    created: time('created').notNull(),
    seen: time('seen').notNull(),
    expires: time('expires').notNull(),
  },
  (t) => [
    index('sessions_person').on(t.person, t.created),
    index('sessions_expires').on(t.expires),
  ],
)

/** Codes that set a new password, each once. */
export const recoveryCodes = table(
  'recovery_codes',
  { hash: text('hash').primaryKey(), person: text('person').notNull() },
  (t) => [index('recovery_codes_person').on(t.person)],
)
