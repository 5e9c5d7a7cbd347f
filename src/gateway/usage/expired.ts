import type { Db } from '../../db/engine.ts'
import type { Hold } from '../../ledger/holds.ts'
import { insertUse } from '../../models/history.ts'
import type { ModelType } from '../../models/price.ts'

/** The model's type by what the ledger calls the work. */
const types = new Map<string, ModelType>([
  ['chat', 'chat'],
  ['embedding', 'embedding'],
  ['image', 'image'],
  ['speech', 'audio'],
  ['transcription', 'audio'],
])

/**
 * The history row of a hold that was charged whole because its process died over it ("billed
 * upstream"), within the transaction of that charge: what it used nobody knows.
 */
export async function noteExpired(db: Db, hold: Hold): Promise<void> {
  const { account, item, ref, price, charged, amount, at, kind } = hold
  const type = types.get(kind)
  if (!type || item === null) return
  await insertUse(db, {
    ...{ account, at, model: item, type, source: 'api', status: 'failed', upstream: null },
    requestId: ref.split(':')[1] ?? ref,
    price: typeof price?.id === 'string' ? price.id : null,
    ...{ input: 0, cached: 0, output: 0, reasoning: 0, searches: 0, estimated: true },
    ...{ charged, held: amount, ms: 0, firstByteMs: null },
  })
}
