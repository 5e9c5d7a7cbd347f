import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import type { Collection } from './document-cache.ts'
import { checkReadable, type Document } from './documents.ts'
import {
  conditionBytesMax,
  conditionValuesMax,
  documentsPerAppMax,
  queryBytesMax,
} from './limits.ts'
import { checkCollectionPath } from './paths.ts'
import type { Player } from './players.ts'
import { type Operator, type Query, select } from './query.ts'
import type { QueryRequest } from './schemas.ts'

const withLists: readonly Operator[] = ['in', 'not-in', 'array-contains-any']

/** Returns the query of a request. Throws `bad_request`. */
export function readQuery({ where = [], orderBy = [], limit }: QueryRequest): Query {
  if (Buffer.byteLength(JSON.stringify(where)) > conditionBytesMax)
    rejectRequest(
      `The conditions have at most ${conditionBytesMax} bytes of JSON. Send fewer.`,
      'where',
    )
  for (const { op, value } of where) {
    const isList = Array.isArray(value) && value.length <= conditionValuesMax
    if (!withLists.includes(op) || isList) continue
    rejectRequest(`"${op}" needs a list of at most ${conditionValuesMax} values.`, 'where')
  }
  return {
    conditions: where.map(({ field, op, value }) => ({ field, operator: op, value })),
    orders: orderBy.map(({ field, direction }) => ({ field, isDescending: direction === 'desc' })),
    limit: limit ?? documentsPerAppMax,
  }
}

/** Returns the documents of a collection that match a query. Throws `too_large`. */
export function selectDocuments({ rows }: Collection, query: Query): Document[] {
  const found = select(rows.values(), query)
  const bytes = found.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes <= queryBytesMax) return found
  throw new ApiError('too_large', { bytes, max: queryBytesMax })
}

/**
 * Returns the documents that match, and the version of the data that they have. Throws
 * `bad_request`, `not_found` for a private collection, and `too_large`.
 */
export async function queryDocuments(
  ctx: AppContext,
  player: Player,
  request: QueryRequest,
): Promise<{ rows: Document[]; version: number }> {
  const path = checkCollectionPath(request.collection)
  const query = readQuery(request)
  checkReadable(player, path)
  const collection = await ctx.documentCache.read(player.app.id, path)
  return { rows: selectDocuments(collection, query), version: collection.version }
}
