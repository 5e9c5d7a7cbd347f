import { Type } from '@sinclair/typebox'
import { and, eq, isNull } from 'drizzle-orm'

import type { Handler, Job, Outcome } from '../../jobs/handlers.ts'
import { currentClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { isApiError } from '../../kernel/errors.ts'
import { recordOf } from '../../kernel/schema.ts'
import { minute, stopwatch } from '../../kernel/time.ts'
import * as files from '../files/files.ts'
import { batchLinesAtOnce, batchSliceMs } from '../limits.ts'
import {
  type Batch,
  BatchJobInputSchema,
  enqueueJob,
  resultBytesMaxOf,
  tooLarge,
} from './batches.ts'
import { type BatchLine, InputFile } from './input-file.ts'
import * as results from './results.ts'
import { runLine } from './run-line.ts'
import { type BatchError, batches } from './tables.ts'

/**
 * Creates the handler that validates and runs a batch in slices, so that other batches get turns.
 * Each line is paid by itself (run-line.ts), and its result is stored when it is there. A restart
 * goes on with the lines that have none.
 */
export const batchHandler = (
  ctx: AppContext,
): Handler<typeof BatchJobInputSchema, ReturnType<typeof Type.Null>> => ({
  input: BatchJobInputSchema,
  data: Type.Null(),
  restarts: Infinity,
  run: async ({ input, signal }) => {
    try {
      return await runBatch(ctx, input.batch, signal)
    } catch (error) {
      // Lines with a result are paid, so the batch goes on until it can end.
      ctx.log.error('batch.interrupted', error, { batch: input.batch })
      return { end: 'again', afterMs: minute }
    }
  },
  compensate: async (db, job) => {
    await renew(ctx, db, job)
  },
})

/**
 * Adds another job for a batch whose job failed, such as after a week without a server: it writes
 * the results that are paid to files, and says of the other lines that the batch expired.
 */
const renew = (ctx: AppContext, db: Db, { owner, input }: Job): Promise<unknown> =>
  enqueueJob(ctx, db, owner, String(recordOf(input)['batch']))

/** Reasons for which lines without a result do not run. */
const reasons = {
  expired: { code: 'batch_expired', message: 'The batch expired before this request ran.' },
  cancelled: {
    code: 'batch_cancelled',
    message: 'The batch was cancelled before this request ran.',
  },
}

/** Runs a batch. `signal` aborts when this process no longer owns the job. */
async function runBatch(ctx: AppContext, id: string, signal: AbortSignal): Promise<Outcome> {
  const [found] = await ctx.db.read
    .select()
    .from(batches)
    .where(and(eq(batches.id, id), isNull(batches.ended)))
  if (!found) return { end: 'done' }
  currentClient().key = found.key
  const input = await openInput(ctx, found)
  if (!input) return fail(ctx, found, [inputDeleted])
  const batch = found.started === null ? await begin(ctx, found, input) : found
  if ('end' in batch) return batch
  const slice = new Slice(ctx, batch, input, signal)
  const pausedMs = await slice.run()
  if (pausedMs !== undefined) return { end: 'again', afterMs: pausedMs }
  return finish(ctx, batch, slice.end)
}

const inputDeleted: BatchError = {
  code: 'input_file_deleted',
  message: 'The input file was deleted. Upload it again and create another batch.',
  param: 'input_file_id',
  line: null,
}

/** Opens the input file; undefined when the client deleted it. */
async function openInput(ctx: AppContext, batch: Batch): Promise<InputFile | undefined> {
  try {
    const file = await files.get(ctx, batch.account, batch.inputFile)
    return new InputFile(await files.readBytes(ctx, file), batch.endpoint)
  } catch (error) {
    if (isApiError(error, 'no_file')) return undefined
    throw error
  }
}

/** Validates the file. Returns the batch in progress, or its failure. */
async function begin(ctx: AppContext, batch: Batch, input: InputFile): Promise<Batch | Outcome> {
  const { total, errors } = await input.validate()
  if (errors.length > 0) return fail(ctx, batch, errors)
  const started = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await db.update(batches).set({ started, total }).where(eq(batches.id, batch.id))
    const isValidating = and(eq(batches.id, batch.id), eq(batches.status, 'validating'))
    await db.update(batches).set({ status: 'in_progress' }).where(isValidating)
  })
  return { ...batch, started, total }
}

/** Ends a batch that cannot go on, with the results that it has. */
const fail = (ctx: AppContext, batch: Batch, errors: BatchError[]): Promise<Outcome> =>
  finish(ctx, batch, 'failed', errors)

type End = 'completed' | 'failed' | 'expired' | 'cancelled'

/** Moves the results to files and ends the batch, in the transaction that ends its job. */
async function finish(
  ctx: AppContext,
  batch: Batch,
  end: End,
  errors: BatchError[] | null = null,
): Promise<Outcome> {
  const { id, account } = batch
  const bytes = await results.toFiles(ctx.db.read, id)
  const counts = await results.countResults(ctx.db.read, id)
  const fileOf = async (content: Uint8Array, name: string) =>
    content.length === 0
      ? undefined
      : files.storeResult(ctx, account, {
          bytes: content,
          filename: `${id}_${name}.jsonl`,
          purpose: 'batch_output',
        })
  const output = await fileOf(bytes.output, 'output')
  const errorFile = await fileOf(bytes.errors, 'error')
  return {
    end: 'done',
    record: async (db) => {
      await files.insertResults(
        db,
        [output, errorFile].filter((file) => file !== undefined),
      )
      const changes = {
        ...counts,
        status: end,
        errors,
        outputFile: output?.id ?? null,
        errorFile: errorFile?.id ?? null,
        ended: ctx.clock.now(),
      }
      await db.update(batches).set(changes).where(eq(batches.id, id))
      await results.deleteResults(db, id)
    },
  }
}

/** The lines of a batch that run in one turn of its job. */
class Slice {
  /** The end of the batch, when `run` returns undefined. */
  end: End = 'completed'
  private readonly until = stopwatch() + batchSliceMs
  private pausedMs: number | undefined
  /** True once a worker has found no further line. */
  private isExhausted = false
  private bytes = 0
  private bytesMax = 0

  constructor(
    private readonly ctx: AppContext,
    private readonly batch: Batch,
    private readonly input: InputFile,
    private readonly signal: AbortSignal,
  ) {}

  /** Runs lines. Returns the wait before the next turn; undefined when every line has a result. */
  async run(): Promise<number | undefined> {
    const done = await results.listDone(this.ctx.db.read, this.batch.id)
    this.bytes = done.bytes
    this.bytesMax = await resultBytesMaxOf(this.ctx, this.batch.account)
    const pending = this.pendingLines(done.lines)
    const work = async (): Promise<void> => {
      while (!this.isOver) {
        const next = pending.next()
        if (next.done) {
          this.isExhausted = true
          return
        }
        await this.runOne(next.value)
      }
    }
    await Promise.all(Array.from({ length: batchLinesAtOnce }, work))
    // A further slice would find no line, and not know that the batch expired or was cancelled.
    if (this.isExhausted) return this.pausedMs
    return this.isOver ? (this.pausedMs ?? 0) : undefined
  }

  /** True when the job gives its place to others, or the server stops. */
  private get isOver(): boolean {
    const isStopping = this.signal.aborted || this.ctx.jobs.isClosed
    return isStopping || this.pausedMs !== undefined || stopwatch() > this.until
  }

  private *pendingLines(done: Set<number>): Generator<BatchLine> {
    for (const line of this.input.lines()) if (!done.has(line.line)) yield line
  }

  private async runOne(line: BatchLine): Promise<void> {
    const { ctx, batch } = this
    const reason = await this.findReason()
    if (reason) {
      this.bytes += await results.storeError(ctx, batch.id, line, reason)
      return
    }
    const response = await runLine(ctx, batch, line)
    if ('pausedMs' in response) this.pausedMs = Math.max(this.pausedMs ?? 0, response.pausedMs)
    else this.bytes += await results.storeResponse(ctx, batch.id, line, response)
  }

  /** Returns the reason for which the next line does not run. */
  private async findReason() {
    const { ctx, batch } = this
    if (ctx.clock.now() >= batch.expires) return this.endAs('expired')
    const [row] = await ctx.db.read
      .select({ cancelling: batches.cancelling })
      .from(batches)
      .where(eq(batches.id, batch.id))
    if (row?.cancelling) return this.endAs('cancelled')
    return this.bytes >= this.bytesMax ? tooLarge(this.bytesMax) : undefined
  }

  private endAs(end: 'expired' | 'cancelled') {
    this.end = end
    return reasons[end]
  }
}
