import type { AppContext } from '../../context.ts'
import { second } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { expireOrphans } from '../../ledger/expiry.ts'
import type { Hold } from '../../ledger/holds.ts'
import { countsOf, insertUse } from '../../models/history.ts'
import type { ModelType } from '../../models/price.ts'
import { usageOf } from '../../models/usage.ts'
import { wordsOf } from '../envelope.ts'

/** The model's type by what the ledger calls the work. */
const types = new Map<string, ModelType>([
  ['chat', 'chat'],
  ['embedding', 'embedding'],
  ['image', 'image'],
  ['speech', 'audio'],
  ['transcription', 'audio'],
])

/** A hold outlives the gateway's own deadlines by this: for the settlement, and its retries. */
const holdMarginMs = 60 * second

/** How long a gateway hold lasts at most. */
export const holdMs = ({ config }: AppContext): number =>
  config.gatewayTotalSeconds * second + holdMarginMs

/** The name of a gateway hold: what it is for, and behind a space the slot of its answer. */
export function holdRef(work: string[], slot: string | undefined): string {
  const name = work.join(':')
  return slot === undefined ? name : `${name} ${slot}`
}

/**
 * What is written of a hold that was charged whole because its process died over it ("billed
 * upstream"), within the transaction of that charge: its history row, though what it used nobody
 * knows, and the answer for who asks again under its Idempotency-Key.
 */
const noteExpired = (ctx: AppContext) => async (db: Db, hold: Hold) => {
  const { account, item, ref, price, charged, amount, at, kind } = hold
  const type = types.get(kind)
  if (!type || item === null) return
  const [work = '', ...slot] = ref.split(' ')
  if (slot.length > 0) {
    const answer = wordsOf(new ApiError('unreadable'))
    await ctx.idempotency.keepLate(db, account, slot.join(' '), answer)
  }
  await insertUse(db, {
    account,
    requestId: work.split(':')[1] ?? work,
    at,
    model: item,
    type,
    source: 'api',
    status: 'failed',
    upstream: null,
    price: typeof price?.id === 'string' ? price.id : null,
    ...countsOf(usageOf({ estimated: true })),
    charged,
    held: amount,
    ms: 0,
    firstByteMs: null,
  })
}

/** Ends the holds that are past their deadline, or whose process died. */
export const endExpired = (ctx: AppContext) => expireOrphans(ctx, noteExpired(ctx))
