import {
  flag,
  index,
  integer,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../kernel/db/columns.ts'
import type { Language } from '../kernel/words/words.ts'

/** People that sign in on the web. */
export const people = table('people', {
  id: text('id').primaryKey(),
  /** A name or an email address in lower case. */
  name: text('name').notNull().unique(),
  /** An argon2id hash; null for people that sign in otherwise. */
  password: text('password'),
  operator: flag('operator').notNull().default(false),
  /** The gateway account that holds this person's credits. */
  wallet: text('wallet').notNull().unique(),
  created: time('created').notNull(),
  /** The language of pages that the person chose; null for that of the browser. */
  language: text('language').$type<Language>(),
  /** When and why the operator suspended the person. */
  suspended: time('suspended'),
  suspendedFor: text('suspended_for'),
})

/** Sessions of browsers. Only the SHA-256 of the cookie is stored. */
export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    hash: text('hash').notNull().unique(),
    person: text('person').notNull(),
    /** The User-Agent. */
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

/** One-time codes that set a new password. */
export const recoveryCodes = table(
  'recovery_codes',
  { hash: text('hash').primaryKey(), person: text('person').notNull() },
  (t) => [index('recovery_codes_person').on(t.person)],
)

/** Public keys of passkeys (WebAuthn Level 3, 4). */
export const passkeys = table(
  'passkeys',
  {
    id: text('id').primaryKey(),
    /** The credential id, base64url. */
    credential: text('credential').notNull().unique(),
    person: text('person').notNull(),
    name: text('name').notNull(),
    /** COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** The signature counter; 0 for devices without one. */
    counter: integer('counter').notNull(),
    created: time('created').notNull(),
    seen: time('seen'),
  },
  (t) => [index('passkeys_person').on(t.person, t.created)],
)

/** Accounts at the sign-in provider, identified by issuer and subject together. */
export const identities = table(
  'identities',
  {
    id: text('id').primaryKey(),
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    person: text('person').notNull(),
    /** The name at the provider when it was linked. */
    name: text('name').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    uniqueIndex('identities_subject').on(t.issuer, t.subject),
    index('identities_person').on(t.person),
  ],
)

/** Used tickets, kept until they expire. */
export const usedTickets = table(
  'used_tickets',
  { hash: text('hash').primaryKey(), expires: time('expires').notNull() },
  (t) => [index('used_tickets_expires').on(t.expires)],
)

/** Members of groups. A group exists while it has one. */
export const groupMembers = table(
  'group_members',
  {
    group: text('group').notNull(),
    person: text('person').notNull(),
    /** The operator added the member, or the sign-in provider names the group. */
    source: text('source').$type<'operator' | 'provider'>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.group, t.person, t.source] }),
    index('group_members_person').on(t.person, t.group),
  ],
)
