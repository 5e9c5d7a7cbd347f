import { and, asc, eq, inArray, isNull, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fetchGuarded, type Network } from '../../kernel/fetch.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import {
  clientDocumentBytesMax,
  clientDocumentMs,
  clientMs,
  clientsMax,
  keyNameCharsMax,
  redirectUriCharsMax,
  redirectUrisMax,
  unusedClientMs,
} from '../../kernel/limits.ts'
import { isRecord, itemsOf } from '../../kernel/schema.ts'
import { hasVisibleText, isPlainLine } from '../../kernel/text.ts'
import { oauthClients } from './tables.ts'

/** A scheme with a dot, as programs choose (RFC 8252, 7.1), or that of a known MCP client. */
const programScheme =
  /^(?:[a-z][a-z\d+-]*\.[a-z\d+.-]+|claude|code-oss|cursor|goose|kiro|lmstudio|raycast|trae|vscode|vscode-insiders|vscodium|warp|windsurf|zed):/

/** An https URL whose host is safe in a policy. */
const webUrl = /^https:\/\/[\w.-]+(?::\d{1,5})?(?:[/?]|$)/

/** A loopback URL: its host, its port, and the rest. */
const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(\/[!-~]*)?$/

/**
 * Returns the problem of a redirect URI. It is an https URL, an http URL of the same computer, or
 * has a scheme of a program (RFC 8252, 7). Other schemes may open dangerous programs.
 */
export function redirectUriProblem(text: string): string | undefined {
  const name = 'A redirect URI'
  if (!/^[!-~]+$/.test(text) || text.length > redirectUriCharsMax)
    return `${name} has at most ${redirectUriCharsMax} ASCII characters without spaces.`
  const url = URL.parse(text)
  if (!url || !/^[a-z][a-z\d+.-]*:/.test(text) || text.includes('\\'))
    return `${name} is an absolute URL with a scheme in lower case.`
  if (text.includes('#')) return `${name} has no fragment.`
  if (url.username || url.password) return `${name} has no user name.`
  if ([loopback, webUrl, programScheme].some((form) => form.test(text))) return undefined
  return `${name} of this form is not safe. Use https with a plain host, http of localhost, 127.0.0.1 or [::1], or a scheme with a dot, such as com.example.app:/callback.`
}

/** Returns whether a redirect URI is registered, up to the port of loopback (RFC 8252, 7.3). */
export const isRegistered = (uris: readonly string[], sent: string): boolean =>
  uris.some((uri) => uri === sent || (loopback.test(sent) && portless(uri) === portless(sent)))

const portless = (uri: string): string => uri.replace(loopback, '$1$2')

/** Returns the place where a redirect URI leads, as a person reads it. */
export function redirectPlace(uri: string): string {
  const { protocol, host } = new URL(uri)
  if (loopback.test(uri)) return `a program on this computer (${host})`
  return protocol === 'https:' ? host : `the program that opens ${protocol} links`
}

/** Returns the source of a policy by which a form may lead to a redirect URI. */
export function redirectSource(uri: string): string {
  const { protocol, host, hostname } = new URL(uri)
  // A policy has no form for the addresses of IPv6.
  const isPlain = /^https?:$/.test(protocol) && !hostname.startsWith('[')
  return isPlain ? `${protocol}//${host}` : protocol
}

/** Adds the fields of a response to a redirect URI (RFC 6749, 4.1.2). */
export function withResponse(uri: string, fields: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, value)
  }
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`
}

/** A program that asks to act as an agent. Its name is what it says about itself. */
export interface Client {
  /** The client_id: an id of a registration, or the URL of a document of metadata. */
  id: string
  name: string
  redirectUris: string[]
}

type Metadata = Omit<Client, 'id'>

/** Reads what a client says about itself (RFC 7591, 2). Throws the errors of RFC 7591, 3.2.2. */
function readMetadata(given: Record<string, unknown>): Metadata {
  const uris = itemsOf(given['redirect_uris'])
  if (uris.length === 0 || uris.length > redirectUrisMax) {
    const problem = `"redirect_uris" has 1 to ${redirectUrisMax} URIs.`
    throw new ApiError('invalid_redirect_uri', { problem })
  }
  const redirectUris = uris.map(String)
  for (const uri of redirectUris) {
    const problem = redirectUriProblem(uri)
    if (problem) throw new ApiError('invalid_redirect_uri', { problem })
  }
  const named = given['client_name'] ?? ''
  const isNameless = typeof named === 'string' && !hasVisibleText(named)
  const name = isNameless ? redirectPlace(redirectUris[0] ?? '') : named
  if (typeof name !== 'string' || !isPlainLine(name, keyNameCharsMax)) {
    const problem = `"client_name" must be one line of at most ${keyNameCharsMax} characters.`
    throw new ApiError('invalid_client_metadata', { problem })
  }
  return { name: name.trim(), redirectUris }
}

/**
 * Registers a client (RFC 7591). Above the maximum, the oldest client that no person approved makes
 * room. Throws `client_registrations_limit`, `invalid_redirect_uri`, `invalid_client_metadata`.
 */
export async function registerClient(
  ctx: AppContext,
  given: Record<string, unknown>,
  address: string,
): Promise<Client & { created: number }> {
  const metadata = readMetadata(given)
  const { clientRegistrations: limit } = ctx.state.limits
  const retryAfter = await limit.take(address)
  if (retryAfter !== undefined)
    throw new ApiError('client_registrations_limit', { max: limit.max, retryAfter })
  const client = { id: newId(), ...metadata, created: ctx.clock.now() }
  await ctx.db.tx(async (db) => {
    if ((await countRows(db, oauthClients, isNull(oauthClients.used))) >= clientsMax)
      await deleteOldestUnused(db)
    await db.insert(oauthClients).values(client)
  })
  return client
}

async function deleteOldestUnused(db: Db): Promise<void> {
  const oldest = db
    .select({ id: oauthClients.id })
    .from(oauthClients)
    .where(isNull(oauthClients.used))
    .orderBy(asc(oauthClients.created), asc(oauthClients.id))
    .limit(1)
  await db.delete(oauthClients).where(inArray(oauthClients.id, oldest))
}

const unknownClient = new ApiError('invalid_client', {
  problem:
    'This client is not registered here. Remove the connector in the program, and add it again.',
})

/** Returns a client by its client_id. Throws `invalid_client`, and `rate_limited` per `person`. */
export async function getClient(
  ctx: AppContext,
  id: string,
  person: string,
  network?: Network,
): Promise<Client> {
  if (id.startsWith('https://')) return fetchClient(ctx, id, person, network)
  // PostgreSQL fails on a NUL.
  if (!idPattern.test(id)) throw unknownClient
  const [client] = await ctx.db.read.select().from(oauthClients).where(eq(oauthClients.id, id))
  if (!client) throw unknownClient
  return client
}

/** Remembers that a person approved a client, which keeps its registration. */
export const recordApproval = (ctx: AppContext, db: Db, id: string): Promise<unknown> =>
  db.update(oauthClients).set({ used: ctx.clock.now() }).where(eq(oauthClients.id, id))

/** An https URL with a path, and without a user, a query, a fragment and dots as segments. */
const documentUrl = /^https:\/\/[^/?#@\s]+\/(?!\.{1,2}(?:\/|$))[!-"$->A-~]+$/

/** Fetches the document of a client (draft-ietf-oauth-client-id-metadata-document-00). */
async function fetchClient(
  ctx: AppContext,
  id: string,
  person: string,
  network: Network | undefined,
): Promise<Client> {
  const failed = (problem: string) => new ApiError('invalid_client', { problem })
  if (!documentUrl.test(id) || id.length > redirectUriCharsMax || /\/\.{1,2}(\/|$)/.test(id))
    throw failed('A client_id is an id of a registration, or an https URL with a path.')
  const { clientDocuments: limit } = ctx.state.limits
  const retryAfter = await limit.take(person)
  if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: limit.max, retryAfter })
  const document = await readDocument(id, network)
  if (document?.['client_id'] !== id)
    throw failed('The document at the URL of the client cannot be read, or names another client.')
  const method = document['token_endpoint_auth_method'] ?? 'none'
  if (method !== 'none' || document['client_secret'] !== undefined)
    throw failed('This server accepts only clients without a secret.')
  return { id, ...readMetadata(document) }
}

async function readDocument(
  url: string,
  network: Network | undefined,
): Promise<Record<string, unknown> | undefined> {
  const bounds = { bytesMax: clientDocumentBytesMax, ms: clientDocumentMs, redirectsMax: 0 }
  const headers = { accept: 'application/json' }
  try {
    const response = await fetchGuarded(url, { headers }, bounds, undefined, network)
    const value: unknown = response.ok ? await response.json() : undefined
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Deletes registrations that no person uses. */
export const deleteOldClients = (ctx: AppContext): Promise<unknown> =>
  ctx.db.tx(async (db) => {
    const now = ctx.clock.now()
    const isUnused = and(isNull(oauthClients.used), lte(oauthClients.created, now - unusedClientMs))
    await db.delete(oauthClients).where(isUnused)
    await db.delete(oauthClients).where(lte(oauthClients.used, now - clientMs))
  })
