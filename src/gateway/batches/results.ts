import { and, asc, count, eq, gt } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import type { AppContext } from '../../server/context.ts'
import type { BatchLine } from './input-file.ts'
import type { LineResponse } from './run-line.ts'
import { batchResults } from './tables.ts'

/** The result of a line, in the format of OpenAI's output and error files. */
interface LineResult {
  id: string
  custom_id: string
  response: LineResponse | null
  error: { code: string; message: string } | null
}

const rowsPerPage = 500

const ofBatch = (batch: string) => eq(batchResults.batch, batch)

/** Stores the response to a line. */
export const storeResponse = (
  ctx: AppContext,
  batch: string,
  line: BatchLine,
  response: LineResponse,
): Promise<number> => store(ctx, batch, line, { response, error: null })

/** Stores the reason for which a line was not run. */
export const storeError = (
  ctx: AppContext,
  batch: string,
  line: BatchLine,
  error: LineResult['error'],
): Promise<number> => store(ctx, batch, line, { response: null, error })

/** Stores the result of a line, and returns its bytes. */
async function store(
  { db }: AppContext,
  batch: string,
  { line, customId }: BatchLine,
  { response, error }: Pick<LineResult, 'response' | 'error'>,
): Promise<number> {
  const id = `batch_req_${batch.replace('batch_', '')}_${line}`
  const result: LineResult = { id, custom_id: customId, response, error }
  const text = JSON.stringify(result)
  const bytes = Buffer.byteLength(text) + 1
  const isError = response === null || response.status_code >= 400
  const row = { batch, line, isError, bytes, result: text }
  await db.tx((tx) => tx.insert(batchResults).values(row).onConflictDoNothing())
  return bytes
}

/** Counts the lines with a result. */
export async function countResults(
  db: Db,
  batch: string,
): Promise<{ completed: number; failed: number }> {
  const rows = await db
    .select({ isError: batchResults.isError, count: count() })
    .from(batchResults)
    .where(ofBatch(batch))
    .groupBy(batchResults.isError)
  const countOf = (isError: boolean): number =>
    rows.find((row) => row.isError === isError)?.count ?? 0
  return { completed: countOf(false), failed: countOf(true) }
}

/** Returns the numbers of the lines with a result, and the bytes of all results. */
export async function listDone(
  db: Db,
  batch: string,
): Promise<{ lines: Set<number>; bytes: number }> {
  const { line, bytes } = batchResults
  const rows = await db.select({ line, bytes }).from(batchResults).where(ofBatch(batch))
  return {
    lines: new Set(rows.map((row) => row.line)),
    bytes: rows.reduce((total, row) => total + row.bytes, 0),
  }
}

/** Returns the results as the bytes of two JSONL files, in the order of the lines. */
export async function toFiles(
  db: Db,
  batch: string,
): Promise<{ output: Uint8Array; errors: Uint8Array }> {
  const output: Buffer[] = []
  const errors: Buffer[] = []
  for (let last = 0; ;) {
    const rows = await db
      .select()
      .from(batchResults)
      .where(and(ofBatch(batch), gt(batchResults.line, last)))
      .orderBy(asc(batchResults.line))
      .limit(rowsPerPage)
    for (const { isError, result } of rows) {
      const file = isError ? errors : output
      file.push(Buffer.from(`${result}\n`))
    }
    last = rows.at(-1)?.line ?? last
    if (rows.length < rowsPerPage) break
  }
  return { output: Buffer.concat(output), errors: Buffer.concat(errors) }
}

export const deleteResults = (db: Db, batch: string): Promise<unknown> =>
  db.delete(batchResults).where(ofBatch(batch))
