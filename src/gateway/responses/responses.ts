import { sha256 } from '../../kernel/ids.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import type { AccountId, Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { createTranslatedChat } from '../chat/translated-chat.ts'
import { invalidField } from '../fields.ts'
import { storedResponseBytesMax } from './limits.ts'
import { toNativeChat } from './native.ts'
import { type NativeReader, readNative, RelayedEvents } from './relay.ts'
import { fieldNames, parseResponsesRequest } from './request.ts'
import { ResponseWriter } from './response-writer.ts'
import { loadSharedItems, shareItems } from './shared-items.ts'
import * as stored from './stored-responses.ts'
import { responseConverter } from './stream.ts'

/**
 * Creates a response from a chat completion, which is held, served and charged as such. Upstreams
 * with the Responses API receive the request itself, and their response is relayed. Throws
 * `bad_request` and the errors of a chat completion.
 */
export async function createResponse(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
): Promise<Response> {
  const { account } = spender
  const references = ctx.state.responseItems
  await loadSharedItems(ctx, account, recordOf(raw).input)
  const conversation = await findConversation(ctx, account, recordOf(raw).previous_response_id)
  const parsed = parseResponsesRequest(raw, {
    findItem: references.finder(account),
    canSearch: ctx.searcher !== undefined,
    canStore: stored.keepsResponses(ctx),
    conversation,
  })
  const { chat, isStream, echo, tools, isReferable, isStored, input, ignored } = parsed
  // A replay under the same Idempotency-Key has the same ids.
  const name = sha256(`${account} ${call.idempotencyKey ?? call.requestId}`).slice(0, 32)
  const items = input.map((item, at) => ({ id: `in_${name}${at}`, ...item }))
  const canStore = isStored && isStorable(items, recordOf(raw).store === true)
  const native = ctx.upstreams.hasNative('responses') ? toNativeChat(raw, parsed) : undefined
  const reader = keepItems(ctx, account, isReferable)
  const store = (response: Json): Promise<boolean> =>
    storeResponse(ctx, account, { input: items, response, before: conversation?.ids ?? [] })
  const createWriter = () =>
    new ResponseWriter({
      echo,
      tools,
      name,
      created: unixSeconds(ctx.clock.now()),
      ...reader,
      store: canStore ? store : undefined,
    })
  return createTranslatedChat(ctx, spender, call, {
    chat,
    isStream,
    native,
    names: fieldNames(raw),
    ignored: { chat: ignored, native: native?.ignored ?? [] },
    createConverter: () => responseConverter(createWriter(), new RelayedEvents(reader)),
    convert: (completion) => createWriter().convert(completion),
    readNative: (response) => readNative(response, reader),
  })
}

/** Returns what keeps the items of a response, which the client may then send back by id. */
function keepItems(ctx: AppContext, account: AccountId, isReferable: boolean): NativeReader {
  const made: Json[] = []
  return {
    onItem(item) {
      if (!isReferable) return
      ctx.state.responseItems.add(account, item)
      made.push(item)
    },
    onFinish: () => shareItems(ctx, account, made),
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
