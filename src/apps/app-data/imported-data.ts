import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { isRecord } from '../../kernel/schema.ts'
import { bytesOf as documentBytes, ownerOf, parseDocumentPath } from './documents.ts'
import {
  boardsPerAppMax,
  documentBytesPerAppMax,
  documentsPerAppMax,
  scoresPerAppMax,
  uploadBytesPerAppMax,
  uploadsPerAppMax,
  valueBytesPerOwnerMax,
  valuesPerOwnerMax,
} from './limits.ts'
import { isPlayerName } from './players.ts'
import { SubmitScoreSchema } from './schemas.ts'
import { documents, players, scores, spaces, uploads, values } from './tables.ts'
import { readImportedUpload, type UploadRow } from './uploads.ts'
import { bytesOf as valueBytes } from './values.ts'

/**
 * A document, a shared value, a score or an uploaded file of an app of another server, as its maker
 * lists it.
 */
export interface ImportedRecord {
  name: string
  /** The id of a player. The players stay authors here, without accounts. */
  author: string
  authorName: string | null
  own?: boolean
  value: unknown
  updated: string
}

type Row<Table extends { $inferSelect: object }> = Omit<Table['$inferSelect'], 'app'>

/** The shared data of an app of another server, checked. */
export interface ImportedData {
  players: Row<typeof players>[]
  documents: Row<typeof documents>[]
  values: Row<typeof values>[]
  scores: Row<typeof scores>[]
  uploads: UploadRow[]
}

/**
 * Checks the data of an app, and stores its uploaded files. Throws `bad_request`, `too_large`,
 * `data_full`, and what an upload throws.
 */
export async function readImportedData(
  ctx: AppContext,
  lists: Record<'documents' | 'values' | 'scores' | 'uploads', AsyncIterable<ImportedRecord>>,
): Promise<ImportedData> {
  const now = ctx.clock.now()
  const data: ImportedData = { players: [], documents: [], values: [], scores: [], uploads: [] }
  const known = new Set<string>()
  const seen = new Set<string>()
  const timeOf = (record: ImportedRecord, key = record.name): number => {
    const updated = Math.min(Date.parse(record.updated), now)
    if (seen.has(key)) rejectRequest(`The record "${key}" is there twice. Remove one.`)
    seen.add(key)
    if (known.has(record.author)) return updated
    known.add(record.author)
    data.players.push(playerRow(record, updated))
    return updated
  }
  for await (const record of lists.documents) {
    data.documents.push(documentRow(record, timeOf(record), data.documents.length + 1))
  }
  checkSize(data.documents, documentsPerAppMax, documentBytesPerAppMax, 'documents')
  seen.clear()
  for await (const record of lists.values) {
    const { name: key, author, value } = record
    if (value === null) rejectRequest(`The value "${key}" is null. Remove it.`)
    const bytes = valueBytes(key, value)
    data.values.push({ owner: '', key, author, value, bytes, updated: timeOf(record) })
  }
  checkSize(data.values, valuesPerOwnerMax, valueBytesPerOwnerMax, 'shared values')
  seen.clear()
  for await (const record of lists.scores) {
    const { name: board, author: player } = record
    const { score, lowest = false } = readScore(record)
    const at = timeOf(record, `${lowest ? 'lowest' : 'highest'} ${player} ${board}`)
    data.scores.push({ board, lowest, player, score, at })
  }
  const boards = new Set(data.scores.map(({ board, lowest }) => `${lowest} ${board}`))
  if (data.scores.length > scoresPerAppMax) full(`${scoresPerAppMax} scores`)
  if (boards.size > boardsPerAppMax) full(`${boardsPerAppMax} boards`)
  seen.clear()
  for await (const record of lists.uploads) {
    data.uploads.push(await readImportedUpload(ctx, record, timeOf(record)))
    checkSize(data.uploads, uploadsPerAppMax, uploadBytesPerAppMax, 'uploaded files')
  }
  return data
}

const playerRow = ({ author, authorName }: ImportedRecord, at: number): Row<typeof players> => ({
  id: author,
  person: null,
  name: authorName !== null && isPlayerName(authorName) ? authorName : null,
  joined: at,
  uses: null,
  valueBytes: 0,
  values: 0,
  created: at,
})

function documentRow(
  { name, author, own = false, value }: ImportedRecord,
  updated: number,
  version: number,
): Row<typeof documents> {
  const at = parseDocumentPath(name)
  if (!isRecord(value)) rejectRequest(`The document "${name}" must be a JSON object.`)
  if (ownerOf(at.collection) !== undefined) {
    rejectRequest(`The document "${name}" is private to a player. Remove it.`)
  }
  return {
    ...at,
    version,
    author,
    editor: author,
    own,
    data: value,
    bytes: documentBytes(at, value),
    holder: null,
    heldUntil: null,
    created: updated,
    updated,
  }
}

const ScoreSchema = Type.Object({
  score: SubmitScoreSchema.properties.score,
  board: SubmitScoreSchema.properties.board,
  lowest: Type.Optional(Type.Boolean()),
})

/** Reads the score of a record. Throws `bad_request`. */
function readScore({ name: board, value }: ImportedRecord): Static<typeof ScoreSchema> {
  const score: unknown = { ...(isRecord(value) && value), board }
  if (Value.Check(ScoreSchema, score)) return score
  rejectRequest(`The score on the board "${board}" is invalid. Fix or remove it.`)
}

function full(what: string): never {
  throw new ApiError('data_full', { what })
}

const bytesIn = (rows: { bytes: number }[]): number =>
  rows.reduce((sum, { bytes }) => sum + bytes, 0)

function checkSize(
  rows: { bytes: number }[],
  rowsMax: number,
  bytesMax: number,
  what: string,
): void {
  if (rows.length > rowsMax) full(`${rowsMax} ${what}`)
  if (bytesIn(rows) > bytesMax) full(`${bytesMax / 1_048_576} MB of ${what}`)
}

const rowsPerStatement = 500

/** Inserts the data of a new app. Returns its bytes, which count for the maker. */
export async function insertImportedData(db: Db, app: string, data: ImportedData): Promise<number> {
  const documentBytes = bytesIn(data.documents)
  const valueBytes = bytesIn(data.values)
  if (data.players.length === 0) return 0
  await db.insert(spaces).values({
    app,
    version: data.documents.length,
    documents: data.documents.length,
    documentBytes,
    valueBytes,
    values: data.values.length,
    forgotten: 0,
  })
  for (const [table, rows] of [
    [players, data.players],
    [documents, data.documents],
    [values, data.values],
    [scores, data.scores],
    [uploads, data.uploads],
  ] as const) {
    for (let from = 0; from < rows.length; from += rowsPerStatement) {
      const some = rows.slice(from, from + rowsPerStatement).map((row) => ({ ...row, app }))
      await db.insert(table).values(some)
    }
  }
  return documentBytes + valueBytes + bytesIn(data.uploads)
}
