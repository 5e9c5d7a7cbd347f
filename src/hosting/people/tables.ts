import { flag, index, integer, table, text, time, uniqueIndex } from '../../db/columns.ts'

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
  /** Since when the operator lets them in no more, and why. */
  suspended: time('suspended'),
  suspendedFor: text('suspended_for'),
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

/** Passkeys: the public half of what a device of a person signs with (WebAuthn Level 3, 4). */
export const passkeys = table(
  'passkeys',
  {
    id: text('id').primaryKey(),
    /** What the device calls it, base64url. */
    credential: text('credential').notNull().unique(),
    person: text('person').notNull(),
    name: text('name').notNull(),
    /** COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** How often it has signed, where the device counts. */
    counter: integer('counter').notNull(),
    created: time('created').notNull(),
    seen: time('seen'),
  },
  (t) => [index('passkeys_person').on(t.person, t.created)],
)

/** Who a person is at the sign-in provider: only issuer and subject together tell. */
export const identities = table(
  'identities',
  {
    id: text('id').primaryKey(),
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    person: text('person').notNull(),
    /** What the provider called them when it was linked. */
    name: text('name').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    uniqueIndex('identities_subject').on(t.issuer, t.subject),
    index('identities_person').on(t.person),
  ],
)

/** Tickets that have been used, until they would have expired anyway. */
export const usedTickets = table(
  'used_tickets',
  { hash: text('hash').primaryKey(), expires: time('expires').notNull() },
  (t) => [index('used_tickets_expires').on(t.expires)],
)
