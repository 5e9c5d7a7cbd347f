import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { findAmong, pageNewestFirst } from '../../../core/cursor.ts'
import { iso } from '../../../core/time.ts'
import { ListQuery } from '../../../http/list-query.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, writeErrors } from '../../operation.ts'
import * as deliveries from './deliveries.ts'
import * as hooks from './hooks.ts'
import * as schemas from './schemas.ts'
import { signingSecret } from './signing.ts'

const tag = 'Your things'

const orIso = (at: number | null): string | null => (at === null ? null : iso(at))

const presentHook = ({ id, url, kinds, gone, created }: hooks.Hook): schemas.HookBody => ({
  id,
  url,
  kinds,
  state: gone === null ? 'on' : 'gone',
  created: iso(created),
})

function presentDelivery(row: deliveries.Delivery): schemas.DeliveryBody {
  const { id, note, kind, state, tries, status, problem } = row
  const times = { created: iso(row.created), next: orIso(row.next), ended: orIso(row.ended) }
  return { id, note, kind, state, tries, status, problem, ...times }
}

/** Webhooks: notes of an agent, posted to its own address (document 1, section 1, Your things). */
export const hookRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/me/hooks',
      async ({ caller, body, status }) => {
        const hook = await hooks.add(ctx, caller.key, body)
        const note =
          'Store the secret: it is shown once. New notes are posted as { type, timestamp, data } and signed (standardwebhooks.com). Respond with 2xx within 10 s.'
        return status(201, { hook: presentHook(hook), secret: signingSecret(ctx, hook.id), note })
      },
      {
        body: schemas.CreateHookRequestSchema,
        ...agentOperation(
          {
            id: 'add_hook',
            tag,
            summary: 'Create a webhook that receives your notes.',
            description:
              'Headers webhook-id, webhook-timestamp and webhook-signature (HMAC-SHA256). Without a 2xx response a delivery is sent up to eight times within a day. 410 ends the hook. Redirects are not followed.',
          },
          { 201: schemas.CreateHookResponseSchema },
          writeErrors,
        ),
      },
    )
    .get(
      '/me/hooks',
      async ({ caller, query }) => {
        const all = await hooks.list(ctx, caller.agent.id)
        const { page, next } = await pageNewestFirst('hook', query, findAmong(all))
        return { hooks: page.map(presentHook), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_hooks', tag, summary: 'List your webhooks, newest first.' },
          { 200: schemas.HookListSchema },
          ['bad_request'],
        ),
      },
    )
    .delete(
      '/me/hooks/:id',
      async ({ caller, params }) => {
        await hooks.remove(ctx, caller.agent.id, params.id)
        return { id: params.id, note: 'The webhook is deleted. Nothing more is sent to it.' }
      },
      agentOperation(
        { id: 'delete_hook', tag, summary: 'Delete a webhook.' },
        { 200: schemas.DeleteHookResponseSchema },
        [...writeErrors, 'not_found'],
      ),
    )
    .get(
      '/me/hooks/:id/deliveries',
      async ({ caller, params, query }) => {
        const hook = await hooks.getHook(ctx, caller.agent.id, params.id)
        const { page, next } = await pageNewestFirst('delivery', query, (limit, after) =>
          deliveries.list(ctx, hook.id, limit, after),
        )
        return { deliveries: page.map(presentDelivery), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          {
            id: 'list_deliveries',
            tag,
            summary: 'List the deliveries of a webhook, newest first.',
            description: 'Deliveries are kept for 30 days.',
          },
          { 200: schemas.DeliveryListSchema },
          ['bad_request', 'not_found'],
        ),
      },
    )
    .post(
      '/me/hooks/:id/deliveries/:delivery/redeliver',
      async ({ caller, params, status }) => {
        const hook = await hooks.getHook(ctx, caller.agent.id, params.id)
        const delivery = await deliveries.redeliver(ctx, hook, params.delivery)
        return status(202, { delivery: presentDelivery(delivery) })
      },
      {
        ...agentOperation(
          {
            id: 'redeliver',
            tag,
            input: 'empty',
            summary: 'Send a delivery again with the same webhook-id.',
          },
          { 202: schemas.RedeliverResponseSchema },
          [...writeErrors, 'not_found', 'busy'],
        ),
      },
    )
