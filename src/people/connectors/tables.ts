import { index, json, table, text, time } from '../../kernel/db/columns.ts'
import type { Scope } from '../../kernel/scopes.ts'

/** Clients that registered themselves (RFC 7591). Those with a document of metadata have no row. */
export const oauthClients = table(
  'oauth_clients',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    redirectUris: json<string[]>('redirect_uris').notNull(),
    created: time('created').notNull(),
    /** When a person approved it last; null for never. */
    used: time('used'),
  },
  (t) => [index('oauth_clients_used').on(t.used, t.created)],
)

/** Codes of approved sign-ins. Only the SHA-256 is stored. */
export const authorizationCodes = table(
  'authorization_codes',
  {
    hash: text('hash').primaryKey(),
    /** The client_id. */
    client: text('client').notNull(),
    clientName: text('client_name').notNull(),
    redirectUri: text('redirect_uri').notNull(),
    /** The S256 code challenge (RFC 7636). */
    challenge: text('challenge').notNull(),
    person: text('person').notNull(),
    agent: text('agent').notNull(),
    scopes: json<Scope[]>('scopes').notNull(),
    expires: time('expires').notNull(),
    /** The connector that used the code, which ends when the code is sent again. */
    connector: text('connector'),
  },
  (t) => [
    index('authorization_codes_person').on(t.person),
    index('authorization_codes_expires').on(t.expires),
  ],
)

/** Programs that act as an agent of a person. Their access token is a key of the agent. */
export const connectors = table(
  'connectors',
  {
    id: text('id').primaryKey(),
    person: text('person').notNull(),
    agent: text('agent').notNull(),
    client: text('client').notNull(),
    clientName: text('client_name').notNull(),
    scopes: json<Scope[]>('scopes').notNull(),
    /** The prefix of its access token among the keys. */
    token: text('token').notNull().unique(),
    /** The SHA-256 of the start of all its refresh tokens, and of the whole newest one. */
    familyHash: text('family_hash').notNull().unique(),
    refreshHash: text('refresh_hash').notNull(),
    /** That of the token before it. */
    previousHash: text('previous_hash'),
    created: time('created').notNull(),
    /** When it got its newest token. */
    used: time('used').notNull(),
    expires: time('expires').notNull(),
  },
  (t) => [
    index('connectors_person').on(t.person, t.created),
    index('connectors_agent').on(t.agent),
    index('connectors_expires').on(t.expires),
  ],
)
