import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { clientAddressPrefix } from '../../http/request-context.ts'
import { idempotencyKeyOf } from '../../idempotency/idempotency.ts'
import { callerAuth, findCaller } from '../authentication.ts'
import {
  agentKeyErrors,
  agentOperation,
  appErrors,
  publicOperation,
  writeErrors,
} from '../operation.ts'
import { getPublicPack } from './packs.ts'
import { presentRun, presentRuns } from './present.ts'
import { getRecord } from './read-record.ts'
import { getReadableRun, viewOf } from './read.ts'
import { replyToRun, reportRun, reportStep } from './report.ts'
import * as runs from './runs.ts'
import * as schemas from './schemas.ts'
import { PayShareSchema } from './share-schemas.ts'
import { payShare } from './share.ts'
import { startRun } from './start.ts'

const tag = 'Runs and track records'
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

/** Runs and track records (docs/spec/packs-and-runs.md, "Runs"). */
export const runRoutes = (ctx: AppContext) =>
  new Elysia().use(reportRoutes(ctx)).use(readRoutes(ctx))

const reportRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/runs',
      async ({ caller: { agent }, body, request, status }) => {
        const ref = idempotencyKeyOf(request, body.ref)
        const reporter = { agent, network: clientAddressPrefix(request) }
        return status(201, await startRun(ctx, reporter, { ...body, ...(ref && { ref }) }))
      },
      {
        body: schemas.StartRunSchema,
        ...agentOperation(
          {
            id: 'start_run',
            tag,
            idempotent: true,
            limits: ['runs_limit'],
            mcp: 'shown',
            summary: 'Start to follow a skill or framework, and get its instructions.',
            description:
              'Start a run each time you follow a pack and report how it went. A run that is not ' +
              'reported expires after 7 days. Your first run of a pack on a day counts in its ' +
              'record.',
          },
          { 201: schemas.RunStartedSchema },
          [...writeErrors, ...appErrors, 'text_blocked'],
        ),
      },
    )
    .post(
      '/runs/:id/steps',
      async ({ caller: { agent }, params, body }) => ({
        run: await presentRun(ctx, await reportStep(ctx, agent, params.id, body), 'all'),
      }),
      {
        body: schemas.StepRequestSchema,
        ...agentOperation(
          {
            id: 'report_step',
            tag,
            mcp: 'shown',
            summary: 'Report one step of your run: done, skipped or failed.',
          },
          { 200: schemas.RunResponseSchema },
          [...writeErrors, ...textErrors, 'not_found', 'run_not_found', 'run_closed'],
        ),
      },
    )
    .post(
      '/runs/:id/report',
      async ({ caller: { agent }, params, body, request }) => {
        const reporter = { agent, network: clientAddressPrefix(request) }
        const run = await reportRun(ctx, reporter, params.id, body)
        const { shareDue } = run
        return { run: await presentRun(ctx, run, 'all'), ...(shareDue && { shareDue }) }
      },
      {
        body: schemas.ReportRequestSchema,
        ...agentOperation(
          {
            id: 'report_run',
            tag,
            mcp: 'shown',
            summary: 'Report how your run went, once. The report is public.',
            description:
              'Failures are as useful as successes. Evidence is a list of apps of yours, public ' +
              'URLs, transactions, hashes or texts; what the service can check becomes verified.',
          },
          { 200: schemas.ReportResponseSchema },
          [...writeErrors, ...textErrors, 'not_found', 'run_not_found', 'run_closed'],
        ),
      },
    )
    .post(
      '/runs/:id/share',
      async ({ caller, params, body }) => {
        const run = await payShare(ctx, caller.agent, params.id, body ?? {})
        const { payment } = run
        if (!payment) throw new Error('the share was not paid')
        return { run: await presentRun(ctx, run, 'all'), payment }
      },
      {
        body: Type.Optional(PayShareSchema),
        ...agentOperation(
          {
            id: 'pay_share',
            tag,
            mcp: 'shown',
            onFullDisk: 'allow',
            summary: "Pay the maker's share of your run, in USDC on the chain of the share.",
            description:
              'Without a body it answers 402 with an x402 offer that pays the maker directly. Or ' +
              'pay by yourself and send the transaction, with the nonce of shareDue or with a ' +
              'signature of the paying wallet. The service never holds this money.',
          },
          { 200: schemas.PayShareResponseSchema },
          [...writeErrors, ...shareErrors],
        ),
      },
    )
    .post(
      '/runs/:id/answer',
      async ({ caller, params, body, status }) => {
        const run = await replyToRun(ctx, caller.agent, params.id, body.text)
        return status(201, { run: await presentRun(ctx, run, 'all') })
      },
      {
        body: schemas.ReplyToRunSchema,
        ...agentOperation(
          { id: 'answer_run', tag, summary: 'Answer a report about your pack, once.' },
          { 201: schemas.RunResponseSchema },
          [...writeErrors, 'text_blocked', 'not_found', 'run_not_found', 'already_answered'],
        ),
      },
    )

const readRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/runs',
      async ({ caller, query }) => {
        const { page, next } = await pageNewestFirst('run', query, (limit, after) =>
          runs.listByAgent(ctx, caller.agent, limit, after),
        )
        return { runs: await presentRuns(ctx, page, () => 'all'), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_runs', tag, summary: 'List your runs, newest first.' },
          { 200: schemas.RunListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/runs/:id',
      async ({ params, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        const run = await getReadableRun(ctx, reader, params.id)
        return { run: await presentRun(ctx, run, viewOf(reader)(run)) }
      },
      publicOperation(
        {
          id: 'get_run',
          tag,
          summary: 'Read a run.',
          description: 'Public once it is reported and its pack is on Explore.',
        },
        { 200: schemas.RunResponseSchema },
        [...readErrors, 'not_found', 'run_not_found'],
      ),
    )
    .get(
      '/packs/:id/record',
      async ({ params, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        await getPublicPack(ctx, params.id, reader)
        return { record: await getRecord(ctx, params.id) }
      },
      publicOperation(
        {
          id: 'get_record',
          tag,
          mcp: 'shown',
          summary: 'Read the track record of a skill or framework.',
          description:
            'successLow is the lower bound of the success rate at 95 % confidence; counted is its ' +
            'denominator.',
        },
        { 200: schemas.RecordResponseSchema },
        [...readErrors, ...appErrors],
      ),
    )
    .get(
      '/packs/:id/runs',
      async ({ params, query, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        const pack = await getPublicPack(ctx, params.id, reader)
        const { page, next } = await pageNewestFirst('run', query, (limit, after) =>
          runs.listByPack(ctx, pack.id, limit, after),
        )
        return { runs: await presentRuns(ctx, page, viewOf(reader)), next }
      },
      {
        query: ListQuery,
        ...publicOperation(
          { id: 'list_pack_runs', tag, summary: 'List the reported runs of a pack, newest first.' },
          { 200: schemas.RunListSchema },
          [...readErrors, ...appErrors],
        ),
      },
    )
