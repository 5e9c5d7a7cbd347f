import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { withCookies } from '../../kernel/http/outcome.ts'
import { iso } from '../../kernel/time.ts'
import { appErrors as ownErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import type { SharingUse } from '../uses/uses.ts'
import { BatchSchema, writeDocuments } from './batch.ts'
import { queryDocuments } from './document-cache.ts'
import * as documents from './documents.ts'
import { checkCollectionPath, parseDocumentPath } from './documents.ts'
import { dataBodyBytesMax } from './limits.ts'
import * as live from './live-session.ts'
import {
  countCall,
  findPlayer,
  getJoined,
  joinApp,
  type Player,
  type PlayerCall,
} from './players.ts'
import * as schemas from './schemas.ts'
import * as values from './values.ts'

const operation = operationsOf('Playing')

/** The access of the player whose browser shows an app, signed in or not. */
const player = { ...visitor, bodyBytesMax: dataBodyBytesMax }

/** The calls of a page, which its shell passes on. A view in a chat passes them on, too. */
const ofPages = { access: player, mcp: 'app' } as const
/** A page can be opened once it has a version. */
const appErrors = [...ownErrors, 'busy'] as const
const readErrors = [
  'bad_request',
  ...appErrors,
  'not_declared',
  'not_joined',
  'data_limit',
] as const
const changeErrors = [
  ...writeErrors,
  ...appErrors,
  'not_declared',
  'not_joined',
  'data_limit',
] as const
const growErrors = [
  ...changeErrors,
  'data_full',
  'storage_full',
  'account_closed',
  'account_suspended',
] as const

const presentPlayer = (player: Player) => ({
  player: {
    id: player.id === '' ? null : player.id,
    signedIn: player.isSignedIn,
    joined: player.hasJoined,
    name: player.name,
    agreed: [...player.agreed],
    declared: [...player.declared],
    undeclared: [...player.undeclared],
  },
})

const presentDocument = (document: documents.Document) => ({
  document: documents.presentDocument(document),
})

/**
 * Returns the player of a call in a scope: personal values follow a person. Every app may keep
 * them, since its saves in a chat are such values.
 */
async function getOwner(
  ctx: AppContext,
  call: PlayerCall,
  app: string,
  scope: values.Scope,
): Promise<Player> {
  if (scope === 'shared') return getCounted(ctx, call, app, 'shared')
  const found = await findPlayer(ctx, call, app)
  if (!found.isSignedIn) {
    throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in`, isSession: true })
  }
  countCall(ctx, found, call)
  return found
}

/**
 * Returns a player who has joined, and counts the call. Throws `not_declared`, `not_joined` and
 * `data_limit`.
 */
async function getCounted(
  ctx: AppContext,
  call: PlayerCall,
  app: string,
  use: SharingUse,
): Promise<Player> {
  const joined = await getJoined(ctx, call, app, use)
  countCall(ctx, joined, call)
  return joined
}

const getPlayer = operation({
  ...ofPages,
  id: 'get_player',
  route: 'GET /apps/:id/player',
  summary: 'Read who plays an app in this browser, as the app sees it.',
  output: { 200: schemas.PlayerResponseSchema },
  errors: appErrors,
  run: async (ctx, call) => presentPlayer(await findPlayer(ctx, call, call.params.id)),
})

const joinAsPlayer = operation({
  ...ofPages,
  id: 'join_app',
  route: 'POST /apps/:id/player',
  summary: 'Agree to share data with the other players and the maker of an app.',
  description:
    'The viewer sends it after a press of the player. It holds for the parts of `service` in uses, which are those that the app declares by default. A guest gets a cookie, by which this browser stays the same player. name is shown to the other players.',
  input: { body: schemas.JoinSchema },
  output: { 200: schemas.PlayerResponseSchema },
  errors: [...writeErrors, ...appErrors, 'not_declared', 'guests_limit'],
  async run(ctx, call) {
    const { player, cookies } = await joinApp(ctx, call, call.params.id, call.body)
    return withCookies(presentPlayer(player), cookies)
  },
})

const listValues = operation({
  ...ofPages,
  id: 'list_values',
  route: 'GET /apps/:id/values/:scope',
  summary: 'List the keys of the values of a player, or of those that all players share.',
  input: { params: schemas.ScopeParamsSchema, query: schemas.PrefixQuerySchema },
  output: { 200: schemas.KeyListSchema },
  errors: [...readErrors, 'not_signed_in'],
  async run(ctx, call) {
    const { id, scope } = call.params
    const owner = await getOwner(ctx, call, id, scope)
    return { keys: await values.listKeys(ctx, owner, scope, call.query.prefix ?? '') }
  },
})

const getValue = operation({
  ...ofPages,
  id: 'get_value',
  route: 'GET /apps/:id/value/:scope',
  summary: 'Read a value by its key.',
  input: { params: schemas.ScopeParamsSchema, query: schemas.KeyQuerySchema },
  output: { 200: schemas.ValueSchema },
  errors: [...readErrors, 'not_signed_in'],
  async run(ctx, call) {
    const { id, scope } = call.params
    const owner = await getOwner(ctx, call, id, scope)
    const found = await values.findValue(ctx, owner, scope, call.query.key)
    if (!found) throw new ApiError('not_found', { what: 'value' })
    const { key, value, author, updated } = found
    return { key, value, author: scope === 'shared' ? author : null, updated: iso(updated) }
  },
})

const setValue = operation({
  ...ofPages,
  id: 'set_value',
  route: 'PUT /apps/:id/value/:scope',
  summary: 'Store a value under a key: for the player, or for all players.',
  description: 'A value has at most 5 MB. A player and the players together have 20 MB in an app.',
  input: { params: schemas.ScopeParamsSchema, body: schemas.SetValueSchema },
  output: { 200: schemas.StoredValueSchema },
  errors: [...growErrors, 'not_signed_in'],
  async run(ctx, call) {
    const { id, scope } = call.params
    const owner = await getOwner(ctx, call, id, scope)
    await values.setValue(ctx, owner, scope, call.body)
    return { key: call.body.key }
  },
})

const deleteValue = operation({
  ...ofPages,
  id: 'delete_value',
  route: 'DELETE /apps/:id/value/:scope',
  summary: 'Delete a value.',
  input: { params: schemas.ScopeParamsSchema, query: schemas.KeyQuerySchema },
  output: { 200: schemas.DeletedSchema },
  errors: [...changeErrors, 'not_signed_in'],
  async run(ctx, call) {
    const { id, scope } = call.params
    const owner = await getOwner(ctx, call, id, scope)
    return { deleted: await values.deleteValue(ctx, owner, scope, call.query.key) }
  },
})

const getDocument = operation({
  ...ofPages,
  id: 'get_document',
  route: 'GET /apps/:id/documents',
  summary: 'Read a document that the players of an app share.',
  input: { query: schemas.PathQuerySchema },
  output: { 200: schemas.FoundDocumentSchema },
  errors: readErrors,
  async run(ctx, call) {
    const at = parseDocumentPath(call.query.path)
    const reader = await getCounted(ctx, call, call.params.id, 'db')
    const found = await documents.findDocument(ctx, reader, at)
    return { document: found ? documents.presentDocument(found) : null }
  },
})

const listDocuments = operation({
  ...ofPages,
  id: 'query_documents',
  route: 'POST /apps/:id/documents/query',
  summary: 'List the documents of a collection that match conditions, in an order.',
  input: { body: schemas.QuerySchema },
  output: { 200: schemas.DocumentListSchema },
  errors: changeErrors,
  async run(ctx, call) {
    const reader = await getCounted(ctx, call, call.params.id, 'db')
    const { rows, version } = await queryDocuments(ctx, reader, call.body)
    return { documents: rows.map(documents.presentDocument), version }
  },
})

const addDocument = operation({
  ...ofPages,
  id: 'add_document',
  route: 'POST /apps/:id/documents',
  summary: 'Add a document to a collection. Its id sorts by time.',
  input: { body: schemas.AddDocumentSchema },
  output: { 200: schemas.DocumentResponseSchema },
  errors: growErrors,
  async run(ctx, call) {
    const { collection, ...given } = call.body
    const path = checkCollectionPath(collection)
    const writer = await getCounted(ctx, call, call.params.id, 'db')
    return presentDocument(await documents.addDocument(ctx, writer, path, given))
  },
})

const setDocument = operation({
  ...ofPages,
  id: 'set_document',
  route: 'PUT /apps/:id/documents',
  summary: 'Create or replace a document.',
  input: { body: schemas.SetDocumentSchema },
  output: { 200: schemas.DocumentResponseSchema },
  errors: [...growErrors, 'not_own'],
  async run(ctx, call) {
    const { path, ...given } = call.body
    const at = parseDocumentPath(path)
    const writer = await getCounted(ctx, call, call.params.id, 'db')
    return presentDocument(await documents.setDocument(ctx, writer, at, given))
  },
})

const updateDocument = operation({
  ...ofPages,
  id: 'update_document',
  route: 'PATCH /apps/:id/documents',
  summary: 'Merge fields into a document, deeply.',
  description:
    '{ "$add": 1 }, { "$now": true }, { "$remove": true }, { "$union": [...] } and { "$without": [...] } change a field by its stored value, so that no player overwrites another.',
  input: { body: schemas.UpdateDocumentSchema },
  output: { 200: schemas.DocumentResponseSchema },
  errors: [...growErrors, 'not_own'],
  async run(ctx, call) {
    const { path, ...given } = call.body
    const at = parseDocumentPath(path)
    const writer = await getCounted(ctx, call, call.params.id, 'db')
    return presentDocument(await documents.updateDocument(ctx, writer, at, given))
  },
})

const deleteDocument = operation({
  ...ofPages,
  id: 'delete_document',
  route: 'DELETE /apps/:id/documents',
  summary: 'Delete a document.',
  input: { query: schemas.PathQuerySchema },
  output: { 200: schemas.DeletedSchema },
  errors: [...changeErrors, 'not_own'],
  async run(ctx, call) {
    const at = parseDocumentPath(call.query.path)
    const writer = await getCounted(ctx, call, call.params.id, 'db')
    return { deleted: await documents.deleteDocument(ctx, writer, at) }
  },
})

const acquireDocument = operation({
  ...ofPages,
  id: 'acquire_document',
  route: 'POST /apps/:id/documents/lease',
  summary: 'Take a lease of a document, so that one page at a time does a thing.',
  description: 'A lease ends with its time, or with ttlMs 0 by its holder.',
  input: { body: schemas.LeaseSchema },
  output: { 200: schemas.LeaseResponseSchema },
  errors: [...growErrors, 'not_own'],
  async run(ctx, call) {
    const { path, ...given } = call.body
    const at = parseDocumentPath(path)
    const writer = await getCounted(ctx, call, call.params.id, 'db')
    const { acquired, document } = await documents.acquireDocument(ctx, writer, at, given)
    const until = document.heldUntil === null ? null : iso(document.heldUntil)
    return { acquired, until, ...presentDocument(document) }
  },
})

const writeAll = operation({
  ...ofPages,
  id: 'write_documents',
  route: 'POST /apps/:id/documents/batch',
  summary: 'Write several documents, all or none.',
  description:
    'A check compares the version of a document that the page has read. Each write counts as a call.',
  input: { body: BatchSchema },
  output: { 200: schemas.WrittenSchema },
  errors: [...growErrors, 'not_own', 'document_changed'],
  async run(ctx, call) {
    const { writes } = call.body
    const writer = await getJoined(ctx, call, call.params.id, 'db')
    for (const _ of writes) countCall(ctx, writer, call)
    await writeDocuments(ctx, writer, writes)
    return { written: writes.length }
  },
})

const openLive = operation({
  ...ofPages,
  mcp: 'hidden',
  id: 'open_live',
  route: 'GET /apps/:id/live',
  summary: 'Open the live connection of a page: watched documents, and rooms.',
  description: 'One WebSocket for each open page. Messages and events are JSON with a type.',
  output: {
    101: Type.Null({ description: 'The connection is a WebSocket.' }),
  },
  errors: [...appErrors, 'not_joined', 'needs_websocket', 'busy', 'try_again'],
  run: (ctx, call) => live.openLive(ctx, call, call.params.id),
})

/** Data that an app keeps for its players (docs/apps.md). */
export const dataOperations = [
  getPlayer,
  joinAsPlayer,
  listValues,
  getValue,
  setValue,
  deleteValue,
  getDocument,
  listDocuments,
  addDocument,
  setDocument,
  updateDocument,
  deleteDocument,
  acquireDocument,
  writeAll,
  openLive,
]
