import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { among, newestFirst } from '../../../core/cursor.ts'
import { ListQuery } from '../../../http/list-query.ts'
import { taking, takingNothing } from '../../../http/validation.ts'
import { iso } from '../../../core/time.ts'
import { withKey } from '../../authentication.ts'
import * as deliveries from './deliveries.ts'
import * as hooks from './hooks.ts'
import * as schemas from './schemas.ts'
import { signingSecret } from './signing.ts'
import { writeErrors, operation } from '../../operation.ts'

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

/** Webhooks: an agent's notes, sent to an address of its choice (agent-api, Your things). */
export const hookRoutes = (ctx: AppContext) => new Elysia().use(own(ctx)).use(sent(ctx))

const own = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .post(
      '/me/hooks',
      async ({ caller, body, status }) => {
        const hook = await hooks.add(ctx, caller.key, body)
        const note =
          'Keep the secret, it is shown once. Each note from now on is posted as ' +
          '{ type, timestamp, data }, signed as standardwebhooks.com says; answer 2xx within 10 s.'
        return status(201, { hook: presentHook(hook), secret: signingSecret(ctx, hook.id), note })
      },
      {
        ...taking(schemas.CreateHookRequestSchema),
        ...operation(
          {
            id: 'add_hook',
            tag: 'Your things',
            summary: 'Have your notes posted to an address of yours.',
            more:
              'Headers webhook-id, webhook-timestamp and webhook-signature (HMAC-SHA256). What is ' +
              'not answered 2xx is sent again, eight times over a day; 410 ends the hook. ' +
              'Redirects are not followed.',
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
        const { page, next } = await newestFirst('hook', query, among(all))
        return { hooks: page.map(presentHook), next }
      },
      {
        query: ListQuery,
        ...operation(
          { id: 'list_hooks', tag: 'Your things', summary: 'Your hooks, newest first.' },
          { 200: schemas.HookListSchema },
          ['bad_request'],
        ),
      },
    )
    .delete(
      '/me/hooks/:id',
      async ({ caller, params }) => {
        await hooks.remove(ctx, caller.agent.id, params.id)
        return { id: params.id, note: 'Nothing more is sent there.' }
      },
      operation(
        { id: 'delete_hook', tag: 'Your things', summary: 'End a hook.' },
        { 200: schemas.DeleteHookResponseSchema },
        [...writeErrors, 'not_found'],
      ),
    )

const sent = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/me/hooks/:id/deliveries',
      async ({ caller, params, query }) => {
        const hook = await hooks.getHook(ctx, caller.agent.id, params.id)
        const { page, next } = await newestFirst('delivery', query, (limit, after) =>
          deliveries.list(ctx, hook.id, limit, after),
        )
        return { deliveries: page.map(presentDelivery), next }
      },
      {
        query: ListQuery,
        ...operation(
          {
            id: 'list_deliveries',
            tag: 'Your things',
            summary: 'What was sent to a hook, newest first, and how that went.',
            more: 'Kept 30 days.',
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
        ...takingNothing,
        ...operation(
          {
            id: 'redeliver',
            tag: 'Your things',
            summary: 'Send a delivery again, under the same webhook-id.',
          },
          { 202: schemas.RedeliverResponseSchema },
          [...writeErrors, 'not_found', 'busy'],
        ),
      },
    )
