import { findOpenJobs } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { second } from '../../kernel/time.ts'
import { expireOrphans } from '../../money/ledger/expiry.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import { storedError } from '../error-response.ts'
import { insertUse, usageCounts } from '../models/history.ts'
import type { ModelType } from '../models/price.ts'
import { createUsage } from '../models/usage.ts'

/** Model types by the ledger's kind of work. */
const types = new Map<string, ModelType>([
  ['chat', 'chat'],
  ['embedding', 'embedding'],
  ['moderation', 'moderation'],
  ['rerank', 'rerank'],
  ['image', 'image'],
  ['speech', 'audio'],
  ['transcription', 'audio'],
  ['realtime', 'realtime'],
])

/** Time after the call's own deadline for the settlement and its retries. */
const holdMarginMs = 60 * second

export const holdDurationMs = ({ config }: AppContext): number =>
  config.gatewayTotalSeconds * second + holdMarginMs

/** Returns the ref of a gateway hold: its work, and after a space the slot of its response. */
export function holdRef(work: string[], slot: string | undefined): string {
  const name = work.join(':')
  return slot === undefined ? name : `${name} ${slot}`
}

/**
 * Records a hold that is charged in full because its process died ("billed upstream"), within the
 * transaction of the charge: a history row with unknown usage, and the response for a retry under
 * its Idempotency-Key.
 */
const recordExpiredHold = (ctx: AppContext) => async (db: Db, hold: Hold) => {
  const { account, item, ref, price, charged, amount, at, kind } = hold
  const type = types.get(kind)
  if (!type || item === null) return
  const [work = '', ...slot] = ref.split(' ')
  if (slot.length > 0) {
    const error = storedError(new ApiError('unreadable'))
    await ctx.idempotency.storeIfAbsent(db, account, slot.join(' '), error)
  }
  await insertUse(db, {
    account,
    requestId: work.split(':')[1] ?? work,
    at,
    model: item,
    type,
    source: 'api',
    status: 'failed',
    error: 'unreadable',
    upstream: null,
    key: hold.capKey,
    price: typeof price?.id === 'string' ? price.id : null,
    ...usageCounts(createUsage({ estimated: true })),
    charged,
    held: amount,
    ms: 0,
    firstByteMs: null,
  })
}

/** Ends the holds that are past their deadline or whose process died. */
export const expireHolds = (ctx: AppContext) =>
  expireOrphans(ctx, { record: recordExpiredHold(ctx), findOpenJobs })
