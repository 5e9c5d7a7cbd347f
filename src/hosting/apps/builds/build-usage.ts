import type { AppContext } from '../../../context.ts'
import type { Db } from '../../../db/engine.ts'
import type { Job } from '../../../jobs/handler.ts'
import type { Hold } from '../../../ledger/holds.ts'
import { insertUse } from '../../../models/history.ts'
import type { Usage } from '../../../models/usage.ts'
import type { ServiceModel } from '../../models/model-call.ts'
import type { BuildData } from './job-data.ts'

type Used = BuildData['used']

export const addUsage = (used: Used, call: Usage): Used => ({
  prompt: used.prompt + call.prompt,
  cached: used.cached + call.cached,
  completion: used.completion + call.completion,
  reasoning: used.reasoning + call.reasoning,
  estimated: used.estimated || call.estimated,
})

/** Records a build and its total charge in its agent's usage history. */
export const recordBuildUsage = (
  { clock }: AppContext,
  db: Db,
  { by, job, hold, used }: { by: ServiceModel; job: Job; hold: Hold; used: Used },
): Promise<void> =>
  insertUse(db, {
    account: hold.account,
    requestId: job.id,
    at: clock.now(),
    model: by.model.id,
    type: 'chat',
    source: 'build',
    status: 'completed',
    upstream: by.upstream,
    price: by.price.id,
    input: used.prompt,
    cached: used.cached,
    output: used.completion,
    reasoning: used.reasoning,
    searches: 0,
    estimated: used.estimated,
    charged: hold.charged,
    held: hold.amount,
    ms: clock.now() - job.created,
    firstByteMs: null,
  })
