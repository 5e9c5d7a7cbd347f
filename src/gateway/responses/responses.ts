import { and, eq, gt, inArray, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { responseItemMs } from '../../kernel/limits.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { AccountId, Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import { countPromptTokens } from '../chat/max-cost.ts'
import { invalidField } from '../fields.ts'
import { storedResponseBytesMax } from '../limits.ts'
import { decodeResponses, fieldNames } from './decode.ts'
import type { PassOptions } from './pass.ts'
import * as stored from './stored-responses.ts'
import { sharedItems } from './tables.ts'
import { createResponsesCodec } from './write.ts'

/**
 * Creates a response of OpenAI's Responses API, which is held, served and charged as a chat.
 * Upstreams with that API get the request itself, and their response is passed on. Throws
 * `bad_request` and the errors of a chat.
 */
export async function createResponse(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
): Promise<CallOutcome> {
  const { account } = spender
  await loadSharedItems(ctx, account, recordOf(raw).input)
  const conversation = await findConversation(ctx, account, recordOf(raw).previous_response_id)
  // A replay under the same Idempotency-Key has the same ids.
  const name = sha256(`${account} ${call.idempotencyKey ?? call.requestId}`).slice(0, 32)
  return createChat(ctx, spender, call, {
    api: 'responses',
    raw,
    names: fieldNames(raw),
    open() {
      const decoded = decode(ctx, account, raw, conversation?.items ?? [])
      const { echo, tools, input, isStored, isReferable } = decoded
      const items = input.map((item, at) => ({ id: `in_${name}${at}`, ...item }))
      const canStore = isStored && isStorable(items, recordOf(raw).store === true)
      const store = (response: Json): Promise<boolean> =>
        storeResponse(ctx, account, { input: items, response, before: conversation?.ids ?? [] })
      const created = unixSeconds(ctx.clock.now())
      return {
        ...decoded,
        codec: (model) =>
          createResponsesCodec({
            echo,
            tools,
            name,
            model,
            created,
            ...keepItems(ctx, account, isReferable),
            store: canStore ? store : undefined,
          }),
      }
    },
  })
}

const decode = (ctx: AppContext, account: AccountId, raw: unknown, before: Json[]) =>
  decodeResponses(raw, {
    findItem: ctx.state.responseItems.finder(account),
    canSearch: ctx.searcher !== undefined,
    canStore: stored.keepsResponses(ctx),
    before,
  })

/**
 * Estimates the input tokens of a request. It calls no model and costs nothing. Throws `no_model`,
 * `bad_request`.
 */
export async function countInputTokens(
  ctx: AppContext,
  { account }: Spender,
  raw: unknown,
): Promise<{ object: 'response.input_tokens'; input_tokens: number }> {
  await loadSharedItems(ctx, account, recordOf(raw).input)
  const conversation = await findConversation(ctx, account, recordOf(raw).previous_response_id)
  const { model, models, request } = decode(ctx, account, raw, conversation?.items ?? [])
  return {
    object: 'response.input_tokens',
    input_tokens: countPromptTokens(ctx, { model, models, request }),
  }
}

/** Returns what keeps the items of a response, which the client may then send back by id. */
function keepItems(
  ctx: AppContext,
  account: AccountId,
  isReferable: boolean,
): Required<Pick<PassOptions, 'onItem' | 'onFinish'>> {
  const items: Json[] = []
  return {
    onItem(item) {
      if (!isReferable) return
      ctx.state.responseItems.add(account, item)
      items.push(item)
    },
    onFinish: () => shareItems(ctx, account, items),
  }
}

/** Returns the stored conversation that a request continues. Throws `bad_request`. */
async function findConversation(ctx: AppContext, account: AccountId, previous: unknown) {
  if (previous === undefined || previous === null || !stored.keepsResponses(ctx)) return undefined
  if (typeof previous === 'string') return stored.getConversation(ctx, account, previous)
  throw invalidField('previous_response_id', 'previous_response_id must be a string.')
}

/** Returns whether items fit into a stored response. Throws when the client asked to store them. */
function isStorable(items: Json[], isStoreRequested: boolean): boolean {
  if (stored.isStorable(items, {})) return true
  if (!isStoreRequested) return false
  const problem = `A stored response has at most ${storedResponseBytesMax} bytes with its input. Remove "store".`
  throw invalidField('store', problem)
}

/** Stores a response, which is paid already. `store` of the response says whether it is stored. */
async function storeResponse(
  ctx: AppContext,
  account: AccountId,
  row: Parameters<typeof stored.insert>[2],
): Promise<boolean> {
  if (!stored.isStorable(row.input, row.response)) return false
  try {
    await stored.insert(ctx, account, row)
    return true
  } catch (error) {
    ctx.log.error('response.not_stored', error, { account })
    return false
  }
}

/** Items that one request may reference. Further ones are unknown. */
const referencesMax = 500

/**
 * Reads the items that an input references by id and that another server created, into the memory
 * of this one. SQLite has one server, which has them in memory.
 */
async function loadSharedItems(
  { db, clock, state: { responseItems } }: AppContext,
  account: AccountId,
  input: unknown,
): Promise<void> {
  if (db.kind === 'sqlite' || !Array.isArray(input)) return
  const known = responseItems.finder(account)
  const ids = input
    .flatMap((item: unknown) => (isRecord(item) && typeof item.id === 'string' ? [item.id] : []))
    .slice(0, referencesMax)
  const unknown = [...new Set(ids)].filter((id) => known(id) === undefined)
  if (unknown.length === 0) return
  const isOwn = and(eq(sharedItems.account, account), inArray(sharedItems.id, unknown))
  const isRecent = gt(sharedItems.at, clock.now() - responseItemMs)
  const found = await db.read.select().from(sharedItems).where(and(isOwn, isRecent))
  for (const { item } of found) responseItems.add(account, item)
}

/** Stores the items of a response for the other servers. A failure is logged: they are a cache. */
async function shareItems(
  { db, clock, log }: AppContext,
  account: AccountId,
  items: Json[],
): Promise<void> {
  if (db.kind === 'sqlite' || items.length === 0) return
  const rows = items.map((item) => ({ account, id: String(item.id), item, at: clock.now() }))
  await db
    .tx((tx) => tx.insert(sharedItems).values(rows).onConflictDoNothing())
    .catch((error: unknown) => log.error('responses.items_not_shared', error))
}

export const deleteOldItems = ({ db, clock }: AppContext): Promise<unknown> =>
  db.tx((tx) => tx.delete(sharedItems).where(lte(sharedItems.at, clock.now() - responseItemMs)))
