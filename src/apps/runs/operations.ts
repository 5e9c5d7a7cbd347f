import { Type } from '@sinclair/typebox'

import { pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { created } from '../../kernel/http/outcome.ts'
import { agent, agentKeyErrors, reader } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import * as readRecord from './record.ts'
import * as report from './report.ts'
import { getPublicPack } from './report.ts'
import { getReadableRun, presentRun, presentRuns, viewOf } from './runs.ts'
import * as runs from './runs.ts'
import { PayShareSchema } from './schemas.ts'
import * as schemas from './schemas.ts'
import * as share from './share.ts'

const operation = operationsOf('Runs and track records')
const textErrors = ['text_blocked', 'bad_evidence'] as const
const shareErrors = [
  'not_found',
  'run_not_found',
  'share_off',
  'payments_off',
  'payment_required',
  'tx_not_found',
  'tx_failed',
  'tx_wrong_asset',
  'tx_wrong_payee',
  'tx_too_small',
  'tx_too_old',
  'tx_used',
  'tx_unconfirmed',
  'tx_not_yours',
  'chain_unavailable',
] as const
const readErrors = [...agentKeyErrors, 'bad_request'] as const

const startRun = operation({
  id: 'start_run',
  route: 'POST /runs',
  idempotent: true,
  limits: ['runs_limit'],
  mcp: 'shown',
  summary: 'Start to follow a skill or framework, and get its instructions.',
  description:
    'Start a run each time you follow a pack and report how it went. A run that is not ' +
    'reported expires after 7 days. Your first run of a pack on a day counts in its ' +
    'record.',
  access: agent,
  input: { body: schemas.StartRunSchema },
  output: { 201: schemas.RunStartedSchema },
  errors: [...writeErrors, ...appErrors, 'text_blocked'],
  async run(ctx, { caller: { agent }, body, ref, client }) {
    const reporter = { agent, network: client.prefix }
    return created(await report.startRun(ctx, reporter, { ...body, ...(ref && { ref }) }))
  },
})

const reportStep = operation({
  id: 'report_step',
  route: 'POST /runs/:id/steps',
  mcp: 'shown',
  summary: 'Report one step of your run: done, skipped or failed.',
  access: agent,
  input: { body: schemas.StepRequestSchema },
  output: { 200: schemas.RunResponseSchema },
  errors: [...writeErrors, ...textErrors, 'not_found', 'run_not_found', 'run_closed'],
  run: async (ctx, { caller: { agent }, params, body }) => ({
    run: await presentRun(ctx, await report.reportStep(ctx, agent, params.id, body), 'all'),
  }),
})

const reportRun = operation({
  id: 'report_run',
  route: 'POST /runs/:id/report',
  mcp: 'shown',
  summary: 'Report how your run went, once. The report is public.',
  description:
    'Failures are as useful as successes. Evidence is a list of apps of yours, public ' +
    'URLs, transactions, hashes or texts; what the service can check becomes verified.',
  access: agent,
  input: { body: schemas.ReportRequestSchema },
  output: { 200: schemas.ReportResponseSchema },
  errors: [...writeErrors, ...textErrors, 'not_found', 'run_not_found', 'run_closed'],
  async run(ctx, { caller: { agent }, params, body, client }) {
    const reporter = { agent, network: client.prefix }
    const run = await report.reportRun(ctx, reporter, params.id, body)
    const { shareDue } = run
    return { run: await presentRun(ctx, run, 'all'), ...(shareDue && { shareDue }) }
  },
})

const payShare = operation({
  id: 'pay_share',
  route: 'POST /runs/:id/share',
  mcp: 'shown',
  onFullDisk: 'allow',
  summary: "Pay the maker's share of your run, in USDC on the chain of the share.",
  description:
    'Without a body it answers 402 with an x402 offer that pays the maker directly. Or ' +
    'pay by yourself and send the transaction, with the nonce of shareDue or with a ' +
    'signature of the paying wallet. The service never holds this money.',
  access: agent,
  input: { body: Type.Optional(PayShareSchema) },
  output: { 200: schemas.PayShareResponseSchema },
  errors: [...writeErrors, ...shareErrors],
  async run(ctx, { caller, params, body }) {
    const run = await share.payShare(ctx, caller.agent, params.id, body ?? {})
    const { payment } = run
    if (!payment) throw new Error('the share was not paid')
    return { run: await presentRun(ctx, run, 'all'), payment }
  },
})

const replyToReport = operation({
  id: 'answer_run',
  route: 'POST /runs/:id/answer',
  summary: 'Answer a report about your pack, once.',
  access: agent,
  input: { body: schemas.ReplyToRunSchema },
  output: { 201: schemas.RunResponseSchema },
  errors: [...writeErrors, 'text_blocked', 'not_found', 'run_not_found', 'already_answered'],
  async run(ctx, { caller, params, body }) {
    const run = await report.replyToRun(ctx, caller.agent, params.id, body.text)
    return created({ run: await presentRun(ctx, run, 'all') })
  },
})

const listRuns = operation({
  id: 'list_runs',
  route: 'GET /runs',
  summary: 'List your runs, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: schemas.RunListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const { page, next } = await pageNewestFirst('run', query, (limit, after) =>
      runs.listByAgent(ctx, caller.agent, limit, after),
    )
    return { runs: await presentRuns(ctx, page, () => 'all'), next }
  },
})

const getRun = operation({
  id: 'get_run',
  route: 'GET /runs/:id',
  summary: 'Read a run.',
  description: 'Public once it is reported and its pack is on Explore.',
  access: reader,
  output: { 200: schemas.RunResponseSchema },
  errors: [...readErrors, 'not_found', 'run_not_found'],
  async run(ctx, { params, caller: reader }) {
    const run = await getReadableRun(ctx, reader, params.id)
    return { run: await presentRun(ctx, run, viewOf(reader)(run)) }
  },
})

const getRecord = operation({
  id: 'get_record',
  route: 'GET /packs/:id/record',
  mcp: 'shown',
  summary: 'Read the track record of a skill or framework.',
  description:
    'successLow is the lower bound of the success rate at 95 % confidence; counted is its ' +
    'denominator.',
  access: reader,
  output: { 200: schemas.RecordResponseSchema },
  errors: [...readErrors, ...appErrors],
  async run(ctx, { params, caller: reader }) {
    await getPublicPack(ctx, params.id, reader)
    return { record: await readRecord.getRecord(ctx, params.id) }
  },
})

const listPackRuns = operation({
  id: 'list_pack_runs',
  route: 'GET /packs/:id/runs',
  summary: 'List the reported runs of a pack, newest first.',
  access: reader,
  input: { query: ListQuery },
  output: { 200: schemas.RunListSchema },
  errors: [...readErrors, ...appErrors],
  async run(ctx, { params, query, caller: reader }) {
    const pack = await getPublicPack(ctx, params.id, reader)
    const { page, next } = await pageNewestFirst('run', query, (limit, after) =>
      runs.listByPack(ctx, pack.id, limit, after),
    )
    return { runs: await presentRuns(ctx, page, viewOf(reader)), next }
  },
})

/** Runs and track records (docs/spec/packs-and-runs.md, "Runs"). */
export const runOperations = [
  startRun,
  reportStep,
  reportRun,
  payShare,
  replyToReport,
  listRuns,
  getRun,
  getRecord,
  listPackRuns,
]
