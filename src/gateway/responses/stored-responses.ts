import { and, asc, count, eq, gt, inArray, lte, sum } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Json, recordsIn } from '../../kernel/schema.ts'
import { day } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import {
  conversationBytesMax,
  conversationResponsesMax,
  responseItemsPageMax,
  storedResponseBytesMax,
  storedResponseBytesPerAccountMax,
  storedResponsesPerAccountMax,
} from '../limits.ts'
import { pageAfter, toList } from '../list.ts'
import type { InputItemsQuery } from './schemas.ts'
import { storedResponses } from './tables.ts'

type StoredRow = typeof storedResponses.$inferSelect

/** The responses before a request, and all items of their conversation. */
export interface StoredConversation {
  ids: string[]
  items: Json[]
}

const idPattern = /^resp_[0-9A-Za-z]{32}$/

export const keepsResponses = ({ config }: AppContext): boolean => config.responsesKeptDays > 0

/** States that this server stores no responses, and the setting that changes it. */
export const storingIsOff =
  'This server stores no responses. Its operator turns that on with RESPONSES_KEPT_DAYS.'

const usedSince = ({ clock, config }: AppContext): number =>
  clock.now() - config.responsesKeptDays * day

const one = (account: AccountId, id: string) =>
  and(eq(storedResponses.account, account), eq(storedResponses.id, id))

async function findRow(
  ctx: AppContext,
  account: AccountId,
  id: string,
): Promise<StoredRow | undefined> {
  if (!keepsResponses(ctx) || !idPattern.test(id)) return undefined
  const isKept = gt(storedResponses.used, usedSince(ctx))
  const [row] = await ctx.db.read
    .select()
    .from(storedResponses)
    .where(and(one(account, id), isKept))
  return row
}

/** Returns a stored response of this account. Throws `not_found`. */
async function getRow(ctx: AppContext, account: AccountId, id: string): Promise<StoredRow> {
  const row = await findRow(ctx, account, id)
  if (row) return row
  throw new ApiError('not_found', {
    what: 'response',
    ...(!keepsResponses(ctx) && { see: storingIsOff }),
  })
}

/** Returns a stored response of this account. Throws `not_found`. */
export const get = async (ctx: AppContext, account: AccountId, id: string): Promise<Json> =>
  (await getRow(ctx, account, id)).response

/** Deletes a stored response of this account. Throws `not_found`. */
export async function remove(ctx: AppContext, account: AccountId, id: string): Promise<void> {
  await getRow(ctx, account, id)
  await ctx.db.tx((db) => db.delete(storedResponses).where(one(account, id)))
}

/**
 * Returns the conversation that ends with a response, from its first item to its output. Throws
 * `bad_request`: for an unknown response, one whose earlier responses are deleted, and a
 * conversation that is too long.
 */
export async function getConversation(
  ctx: AppContext,
  account: AccountId,
  id: string,
): Promise<StoredConversation> {
  const rows: StoredRow[] = []
  let bytes = 0
  for (let next: string | null = id; next !== null;) {
    const row = await findRow(ctx, account, next)
    if (!row) throw missing(next === id)
    rows.push(row)
    bytes += row.bytes
    if (bytes > conversationBytesMax || rows.length > conversationResponsesMax) throw tooLong
    next = row.previous
  }
  const inOrder = rows.toReversed()
  return {
    ids: inOrder.map((row) => row.id),
    items: inOrder.flatMap(({ input, response }) => [...input, ...recordsIn(response.output)]),
  }
}

const missing = (isNamed: boolean): ApiError<'bad_request'> =>
  invalidField(
    'previous_response_id',
    isNamed
      ? 'This account has no such response. It may have expired. Send the conversation as "input".'
      : 'An earlier response of this conversation was deleted. Send the conversation as "input".',
  )

const tooLong = invalidField(
  'previous_response_id',
  `A stored conversation has at most ${conversationResponsesMax} responses and ${conversationBytesMax} bytes. Send the items that matter as "input".`,
)

/** Returns whether a response can be stored beside its items. */
export const isStorable = (input: Json[], response: Json): boolean =>
  bytesOf(input) + bytesOf(response) <= storedResponseBytesMax

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * Stores a response with the items of its request. It counts as a use of the whole conversation.
 * The account's responses without use go first where they exceed its quota.
 */
export async function insert(
  { clock, db }: AppContext,
  account: AccountId,
  { input, response, before }: { input: Json[]; response: Json; before: string[] },
): Promise<void> {
  const now = clock.now()
  const row: StoredRow = {
    account,
    id: String(response.id),
    created: now,
    used: now,
    bytes: bytesOf(input) + bytesOf(response),
    previous: before.at(-1) ?? null,
    input,
    response,
  }
  await db.tx(async (tx) => {
    await lock(tx, `responses of ${account}`)
    // A replay under the same Idempotency-Key has the same id.
    await tx.insert(storedResponses).values(row).onConflictDoNothing()
    if (before.length > 0) {
      const isBefore = and(
        eq(storedResponses.account, account),
        inArray(storedResponses.id, before),
      )
      await tx.update(storedResponses).set({ used: now }).where(isBefore)
    }
    await deleteExcess(tx, account)
  })
}

/** Deletes responses until the account is within its quota, those without use first. */
async function deleteExcess(db: Db, account: AccountId): Promise<void> {
  const [total] = await db
    .select({ rows: count(), bytes: sum(storedResponses.bytes).mapWith(Number) })
    .from(storedResponses)
    .where(eq(storedResponses.account, account))
  let rows = (total?.rows ?? 0) - storedResponsesPerAccountMax
  let bytes = (total?.bytes ?? 0) - storedResponseBytesPerAccountMax
  if (rows <= 0 && bytes <= 0) return
  const oldest = await db
    .select({ id: storedResponses.id, bytes: storedResponses.bytes })
    .from(storedResponses)
    .where(eq(storedResponses.account, account))
    .orderBy(asc(storedResponses.used), asc(storedResponses.id))
    .limit(deletedAtOnce)
  const excess: string[] = []
  for (const { id, bytes: own } of oldest) {
    if (rows <= 0 && bytes <= 0) break
    excess.push(id)
    rows -= 1
    bytes -= own
  }
  const isExcess = and(eq(storedResponses.account, account), inArray(storedResponses.id, excess))
  await db.delete(storedResponses).where(isExcess)
}

const deletedAtOnce = 1_000

/**
 * Lists the items that a response was created from, those of earlier responses included, by default
 * newest first. Throws `not_found` and `bad_request`.
 */
export async function listInput(
  ctx: AppContext,
  account: AccountId,
  id: string,
  { limit = 20, order = 'desc', after }: InputItemsQuery,
) {
  const row = await getRow(ctx, account, id)
  const size = requireWhole('limit', limit, responseItemsPageMax)
  const before = row.previous === null ? [] : await itemsBefore(ctx, account, row.previous)
  const items = [...before, ...row.input]
  const ordered = order === 'asc' ? items : items.toReversed()
  const { page, hasMore } = pageAfter(ordered, after, size)
  return toList(page, hasMore)
}

/** Returns the items before a response; none where an earlier response was deleted. */
const itemsBefore = (ctx: AppContext, account: AccountId, previous: string): Promise<Json[]> =>
  getConversation(ctx, account, previous).then(
    ({ items }) => items,
    () => [],
  )

/** Deletes responses that were not used within RESPONSES_KEPT_DAYS. */
export async function deleteExpired(ctx: AppContext): Promise<void> {
  await ctx.db.tx((db) =>
    db.delete(storedResponses).where(lte(storedResponses.used, usedSince(ctx))),
  )
}
