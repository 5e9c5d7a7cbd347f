import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { strictObject } from '../../kernel/schema.ts'
import {
  changeIn,
  checkReadable,
  type DocumentPath,
  isDocument,
  parseDocumentPath,
  readRow,
  removing,
  setting,
  updating,
} from './documents.ts'
import { batchWritesMax } from './limits.ts'
import type { Player } from './players.ts'
import { PathQuerySchema, SetDocumentSchema, UpdateDocumentSchema } from './schemas.ts'
import { lockSpace } from './spaces.ts'

const { path } = PathQuerySchema.properties
const WriteSchema = Type.Union([
  strictObject({ op: Type.Literal('set'), ...SetDocumentSchema.properties }),
  strictObject({ op: Type.Literal('update'), ...UpdateDocumentSchema.properties }),
  strictObject({ op: Type.Literal('delete'), path }),
  strictObject({
    op: Type.Literal('check'),
    path,
    version: Type.Integer({
      minimum: 0,
      description: 'That of the document, as it was read. 0 for a missing one.',
    }),
  }),
])
type BatchWrite = Static<typeof WriteSchema>

export const BatchSchema = strictObject(
  { writes: Type.Array(WriteSchema, { minItems: 1, maxItems: batchWritesMax }) },
  { examples: [{ writes: [{ op: 'set', path: 'games/1', data: { turn: 'x' } }] }] },
)

/**
 * Writes several documents, all or none. A check ends it with `document_changed` where a document
 * has another version than the page has read. Throws what the writes throw.
 */
export async function writeDocuments(
  ctx: AppContext,
  player: Player,
  writes: BatchWrite[],
): Promise<void> {
  const placed = writes.map((write) => ({ write, at: parseDocumentPath(write.path) }))
  for (const { at } of placed) checkReadable(player, at.collection)
  await ctx.db.tx(async (db) => {
    // From the first check on, other writes wait.
    await lockSpace(db, player.app.id)
    for (const { write, at } of placed) await writeOne(ctx, db, player, at, write)
  })
}

async function writeOne(
  ctx: AppContext,
  db: Db,
  player: Player,
  at: DocumentPath,
  write: BatchWrite,
): Promise<void> {
  const change = (next: Parameters<typeof changeIn>[4]) => changeIn(ctx, db, player, at, next)
  if (write.op === 'set') {
    await change(setting(ctx, player, write))
    return
  }
  if (write.op === 'update') {
    await change(updating(ctx, player, at, write))
    return
  }
  const row = await readRow(db, player.app.id, at)
  const isThere = isDocument(row)
  if (write.op === 'delete') {
    if (isThere) await change(removing(player))
    return
  }
  const version = isThere ? row.version : 0
  if (version !== write.version) throw new ApiError('document_changed', { path: write.path })
}
