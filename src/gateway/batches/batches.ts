import { type Static, Type } from '@sinclair/typebox'
import { and, desc, eq, isNull, lte } from 'drizzle-orm'
import type { OpenAPIV3 } from 'openapi-types'

import { enqueue } from '../../jobs/jobs.ts'
import { currentClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, isAfterCursor, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import { completed, Replay } from '../../kernel/http/outcome.ts'
import { newId } from '../../kernel/ids.ts'
import { zero } from '../../kernel/money.ts'
import {
  anyObject,
  isRecord,
  lenientObject,
  namedObject,
  nullable,
  oneOf,
  recordOf,
} from '../../kernel/schema.ts'
import { day, hour, unixSeconds } from '../../kernel/time.ts'
import { hasBeenFunded } from '../../money/ledger/reports.ts'
import type { AccountId, KeySpender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { invalidField, readString } from '../fields.ts'
import * as files from '../files/files.ts'
import { checkQuota, checkUnfunded } from '../files/quota.ts'
import {
  batchLinesMax,
  batchListMax,
  batchResultBytesMax,
  fileIdCharsMax,
  openBatchesPerAccountMax,
  unfundedReservedBytes,
  unfundedResultBytesMax,
} from '../limits.ts'
import { listSchema, toList, unknownAfter } from '../list.ts'
import { countResults } from './results.ts'
import { endpoints } from './run-line.ts'
import { batches, batchStatuses } from './tables.ts'

/** The documented request. batches.ts parses it. */
export const batchRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['input_file_id', 'endpoint', 'completion_window'],
  properties: {
    input_file_id: {
      type: 'string',
      minLength: 1,
      maxLength: fileIdCharsMax,
      description:
        `An uploaded JSONL file with at most ${batchLinesMax} lines ` +
        '`{ custom_id, method: "POST", url, body }`.',
    },
    endpoint: { type: 'string', enum: Object.keys(endpoints) },
    completion_window: { type: 'string', enum: ['24h'] },
    metadata: {
      type: 'object',
      nullable: true,
      additionalProperties: { type: 'string' },
      description: 'At most 16 pairs.',
    },
  },
}

const SecondsSchema = nullable(Type.Integer({ description: 'Seconds since 1970.' }))

export const BatchSchema = namedObject('Batch', {
  id: Type.String(),
  object: Type.Literal('batch'),
  endpoint: Type.String(),
  errors: nullable(
    Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(
        Type.Object({
          code: Type.String(),
          message: Type.String(),
          param: nullable(Type.String()),
          line: nullable(Type.Integer()),
        }),
      ),
    }),
  ),
  input_file_id: Type.String(),
  completion_window: Type.Literal('24h'),
  status: oneOf(batchStatuses),
  output_file_id: nullable(Type.String()),
  error_file_id: nullable(Type.String()),
  created_at: Type.Integer(),
  in_progress_at: SecondsSchema,
  expires_at: Type.Integer(),
  finalizing_at: SecondsSchema,
  completed_at: SecondsSchema,
  failed_at: SecondsSchema,
  expired_at: SecondsSchema,
  cancelling_at: SecondsSchema,
  cancelled_at: SecondsSchema,
  request_counts: Type.Object({
    total: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer(),
  }),
  metadata: nullable(Type.Record(Type.String(), Type.String())),
})
export type BatchResponse = Static<typeof BatchSchema>

export const BatchListSchema = listSchema(BatchSchema)

export const BatchListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(batchListMax, `1 to ${batchListMax}.`)),
  after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
})
export type BatchListQuery = Static<typeof BatchListQuerySchema>

export const BatchJobInputSchema = Type.Object({ batch: Type.String() })

export type Batch = typeof batches.$inferSelect

/** The completion window: OpenAI's only one. */
const windowMs = 24 * hour
/** A batch ends with its window. Its job lives longer, for a server that was down then. */
const jobMs = windowMs + 7 * day
const retentionMs = 30 * day
const idPattern = /^batch_[A-Za-z0-9]{12}$/
const metadataPairsMax = 16
const metadataCharsMax = 512

/**
 * Creates a batch of the requests in an uploaded file, which a job validates and runs. Throws
 * `bad_request`, `no_file`, `holds_limit` beyond the open batches of an account, and the errors of
 * `withResultSpace`.
 */
export async function create(
  ctx: AppContext,
  spender: KeySpender,
  raw: unknown,
  { idempotencyKey }: Call,
): Promise<Replay> {
  const { account } = spender
  const response = await ctx.idempotency.run(
    account,
    idempotencyKey,
    { path: '/batches', body: raw },
    async (storeResponse) => {
      const { batch, inputBytes } = await readRequest(ctx, spender, raw)
      const insert = async (db: Db) => {
        await lock(db, `batches of ${account}`)
        const isOpen = and(eq(batches.account, account), isNull(batches.ended))
        if ((await countRows(db, batches, isOpen)) >= openBatchesPerAccountMax) {
          throw new ApiError('holds_limit', { max: openBatchesPerAccountMax, retryAfter: 60 })
        }
        await enqueueJob(ctx, db, account, batch.id)
        await db.insert(batches).values(batch)
        return storeResponse(db, completed(present(batch)))
      }
      const response = await withResultSpace(ctx, { account, inputBytes }, () => ctx.db.tx(insert))
      ctx.jobs.wake()
      return response
    },
  )
  return new Replay(response)
}

async function readRequest(
  ctx: AppContext,
  { account, key }: KeySpender,
  raw: unknown,
): Promise<{ batch: Batch; inputBytes: number }> {
  const body = recordOf(raw)
  const endpoint = readString(body, 'endpoint', 100)
  if (!Object.hasOwn(endpoints, endpoint)) {
    throw invalidField('endpoint', `endpoint must be ${Object.keys(endpoints).join(' or ')}.`)
  }
  if (body.completion_window !== '24h') {
    throw invalidField('completion_window', 'completion_window must be 24h.')
  }
  const metadata = readMetadata(body.metadata)
  const file = await files.use(ctx, account, readString(body, 'input_file_id', fileIdCharsMax))
  if (file.kind !== 'text') {
    throw invalidField('input_file_id', 'The input file must be JSONL: one JSON object a line.')
  }
  const now = ctx.clock.now()
  const batch: Batch = {
    id: `batch_${newId()}`,
    account,
    owner: key.owner,
    key: key.prefix,
    endpoint,
    inputFile: file.id,
    metadata,
    status: 'validating',
    total: 0,
    completed: 0,
    failed: 0,
    errors: null,
    outputFile: null,
    errorFile: null,
    created: now,
    started: null,
    cancelling: null,
    ended: null,
    expires: now + windowMs,
  }
  return { batch, inputBytes: file.bytes }
}

function readMetadata(raw: unknown): Record<string, string> | null {
  if (raw === undefined || raw === null) return null
  const pairs = isRecord(raw) ? Object.entries(raw) : []
  const texts = pairs.flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && name.length + value.length <= metadataCharsMax
      ? [[name, value]]
      : [],
  )
  if (isRecord(raw) && pairs.length <= metadataPairsMax && texts.length === pairs.length) {
    return Object.fromEntries(texts)
  }
  const problem = `metadata must have at most ${metadataPairsMax} pairs of strings.`
  throw invalidField('metadata', problem)
}

/** Returns a batch of this account, with the counts of a running one. Throws `not_found`. */
export async function get(ctx: AppContext, account: AccountId, id: string): Promise<Batch> {
  const [batch] = idPattern.test(id)
    ? await ctx.db.read
        .select()
        .from(batches)
        .where(and(eq(batches.id, id), eq(batches.account, account)))
    : []
  if (!batch) throw new ApiError('not_found', { what: 'batch' })
  return withCounts(ctx, batch)
}

const withCounts = async (ctx: AppContext, batch: Batch): Promise<Batch> =>
  batch.ended === null ? { ...batch, ...(await countResults(ctx.db.read, batch.id)) } : batch

/** Lists the batches of an account, newest first. Throws `bad_request`. */
export async function list(
  ctx: AppContext,
  account: AccountId,
  { limit = 20, after }: BatchListQuery,
) {
  const size = requireWhole('limit', limit, batchListMax)
  const last = after === undefined ? undefined : await findAfter(ctx, account, after)
  const rows = await ctx.db.read
    .select()
    .from(batches)
    .where(and(eq(batches.account, account), isAfterCursor(batches, last)))
    .orderBy(desc(batches.created), desc(batches.id))
    .limit(size + 1)
  const data: BatchResponse[] = []
  for (const row of rows.slice(0, size)) data.push(present(await withCounts(ctx, row)))
  return toList(data, rows.length > size)
}

const findAfter = (ctx: AppContext, account: AccountId, after: string): Promise<Batch> =>
  get(ctx, account, after).catch(() => {
    throw unknownAfter()
  })

/**
 * Cancels an open batch: running lines end, others do not run. An ended batch stays as it is.
 * Throws `not_found`.
 */
export async function cancel(ctx: AppContext, account: AccountId, id: string): Promise<Batch> {
  await get(ctx, account, id)
  const changes = { status: 'cancelling', cancelling: ctx.clock.now() } as const
  const isOpen = and(eq(batches.id, id), isNull(batches.ended), isNull(batches.cancelling))
  await ctx.db.tx((db) => db.update(batches).set(changes).where(isOpen))
  ctx.jobs.wake()
  return get(ctx, account, id)
}

/** Adds the job that runs a batch. */
export const enqueueJob = (
  ctx: Pick<AppContext, 'clock'>,
  db: Db,
  owner: string,
  batch: string,
): Promise<unknown> =>
  enqueue(ctx, db, {
    kind: 'batch',
    queue: 'batches',
    owner,
    slot: batch,
    input: { batch },
    price: zero,
    ms: jobMs,
  })

/** Deletes batches that ended more than 30 days ago. */
export async function deleteOld({ db, clock }: AppContext): Promise<void> {
  const isOld = lte(batches.ended, clock.now() - retentionMs)
  await db.tx((tx) => tx.delete(batches).where(isOld))
}

/** Converts a batch to OpenAI's format. */
export function present(batch: Batch): BatchResponse {
  const { status, ended, started, cancelling, errors } = batch
  const at = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms))
  const endedAs = (name: Batch['status']): number | null => (status === name ? at(ended) : null)
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: errors && { object: 'list', data: errors },
    input_file_id: batch.inputFile,
    completion_window: '24h',
    status,
    output_file_id: batch.outputFile,
    error_file_id: batch.errorFile,
    created_at: unixSeconds(batch.created),
    in_progress_at: at(started),
    expires_at: unixSeconds(batch.expires),
    finalizing_at: started === null ? null : at(ended),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: at(cancelling),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    metadata: batch.metadata,
  }
}

/** Returns the bytes of results after which further lines of a batch do not run. */
export const resultBytesMaxOf = async ({ db }: AppContext, account: AccountId): Promise<number> =>
  (await hasBeenFunded(db.read, account)) ? batchResultBytesMax : unfundedResultBytesMax

/** The reason for which lines beyond those bytes do not run. */
export const tooLarge = (max: number) => ({
  code: 'batch_output_limit',
  message: `The results of this batch have at most ${max} bytes. Send this request in another one.`,
})

/**
 * Creates a batch when its account has space for more files. One that was never funded reserves the
 * bytes of the results, which name every line of the input, as an upload of its network. Throws
 * `files_full`, `uploads_limit` and `try_again`.
 */
async function withResultSpace<Created>(
  ctx: AppContext,
  { account, inputBytes }: { account: AccountId; inputBytes: number },
  create: () => Promise<Created>,
): Promise<Created> {
  const isFunded = await hasBeenFunded(ctx.db.read, account)
  const bytes = isFunded ? 0 : unfundedReservedBytes + inputBytes
  await checkQuota(ctx, account, { rows: 1, bytes }, isFunded)
  if (isFunded) return create()
  await checkUnfunded(ctx, bytes)
  try {
    return await create()
  } catch (error) {
    await ctx.state.limits.unfundedUploads.giveBack(currentClient().prefix, bytes)
    throw error
  }
}
