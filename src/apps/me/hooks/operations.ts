import { type Static, Type } from '@sinclair/typebox'

import { findAmong, pageNewestFirst } from '../../../kernel/cursor.ts'
import { ListQuery, NextSchema } from '../../../kernel/http/list-query.ts'
import { accepted, created } from '../../../kernel/http/outcome.ts'
import { hookUrlCharsMax } from '../../../kernel/limits.ts'
import {
  IdSchema,
  LinkSchema,
  namedObject,
  nullable,
  oneOf,
  strictObject,
  TimeSchema,
} from '../../../kernel/schema.ts'
import { iso } from '../../../kernel/time.ts'
import { agent, agentKey } from '../../../people/authentication.ts'
import { noteKinds } from '../../../people/notifications/kinds.ts'
import { operationsOf, writeErrors } from '../../../people/operation.ts'
import * as hooks from './hooks.ts'

/** POST /me/hooks. */
const CreateHookRequestSchema = strictObject(
  {
    url: Type.String({
      maxLength: hookUrlCharsMax,
      described: { pattern: '^https?://', format: 'uri' },
      description: 'A public http or https address.',
    }),
    kinds: Type.Optional(
      Type.Array(oneOf(noteKinds), {
        minItems: 1,
        uniqueItems: true,
        description: 'The kinds of notes to send. Default: all.',
      }),
    ),
  },
  { examples: [{ url: 'https://hooks.example.com/berth', kinds: ['remix.sold', 'review.new'] }] },
)

const HookSchema = namedObject('Hook', {
  id: IdSchema,
  url: LinkSchema,
  kinds: nullable(Type.Array(oneOf(noteKinds), { description: 'null means all kinds.' })),
  state: oneOf(['on', 'gone']),
  created: TimeSchema,
})
export type HookBody = Static<typeof HookSchema>

const CreateHookResponseSchema = Type.Object({
  hook: HookSchema,
  secret: Type.String({ description: 'Signs the messages. Shown once.' }),
  note: Type.String(),
})

const HookListSchema = Type.Object({ hooks: Type.Array(HookSchema), next: NextSchema })
const DeleteHookResponseSchema = Type.Object({ id: IdSchema, note: Type.String() })

const DeliverySchema = namedObject('Delivery', {
  id: IdSchema,
  note: Type.String({ description: 'The id of the note, sent as webhook-id.' }),
  kind: oneOf(noteKinds),
  state: oneOf(['waiting', 'delivered', 'failed']),
  tries: Type.Integer(),
  status: nullable(Type.Integer({ description: 'The status of the last response.' })),
  problem: nullable(Type.String({ description: 'Why there was no response.' })),
  created: TimeSchema,
  next: nullable(TimeSchema),
  ended: nullable(TimeSchema),
})
export type DeliveryBody = Static<typeof DeliverySchema>

const RedeliverResponseSchema = Type.Object({ delivery: DeliverySchema })
const DeliveryListSchema = Type.Object({
  deliveries: Type.Array(DeliverySchema),
  next: NextSchema,
})

const operation = operationsOf('Your things')

const orIso = (at: number | null): string | null => (at === null ? null : iso(at))

const presentHook = ({ id, url, kinds, gone, created }: hooks.Hook): HookBody => ({
  id,
  url,
  kinds,
  state: gone === null ? 'on' : 'gone',
  created: iso(created),
})

function presentDelivery(row: hooks.Delivery): DeliveryBody {
  const { id, note, kind, state, tries, status, problem } = row
  const times = { created: iso(row.created), next: orIso(row.next), ended: orIso(row.ended) }
  return { id, note, kind, state, tries, status, problem, ...times }
}

const addHook = operation({
  id: 'add_hook',
  route: 'POST /me/hooks',
  scope: 'none',
  summary: 'Create a webhook that receives your notes.',
  description:
    'Headers webhook-id, webhook-timestamp and webhook-signature (HMAC-SHA256). Without a 2xx response a delivery is sent up to eight times within a day. 410 ends the hook. Redirects are not followed.',
  access: agentKey,
  input: { body: CreateHookRequestSchema },
  output: { 201: CreateHookResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller, body }) {
    const hook = await hooks.add(ctx, caller.key, body)
    const note =
      'Store the secret: it is shown once. New notes are posted as { type, timestamp, data } and signed (standardwebhooks.com). Respond with 2xx within 10 s.'
    return created({ hook: presentHook(hook), secret: hooks.signingSecret(ctx, hook.id), note })
  },
})

const listHooks = operation({
  id: 'list_hooks',
  route: 'GET /me/hooks',
  summary: 'List your webhooks, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: HookListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const all = await hooks.list(ctx, caller.agent.id)
    const { page, next } = await pageNewestFirst('hook', query, findAmong(all))
    return { hooks: page.map(presentHook), next }
  },
})

const deleteHook = operation({
  id: 'delete_hook',
  route: 'DELETE /me/hooks/:id',
  summary: 'Delete a webhook.',
  access: agent,
  output: { 200: DeleteHookResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    await hooks.remove(ctx, caller.agent.id, params.id)
    return { id: params.id, note: 'The webhook is deleted. Nothing more is sent to it.' }
  },
})

const listDeliveries = operation({
  id: 'list_deliveries',
  route: 'GET /me/hooks/:id/deliveries',
  summary: 'List the deliveries of a webhook, newest first.',
  description: 'Deliveries are kept for 30 days.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: DeliveryListSchema },
  errors: ['bad_request', 'not_found'],
  async run(ctx, { caller, params, query }) {
    const hook = await hooks.getHook(ctx, caller.agent.id, params.id)
    const { page, next } = await pageNewestFirst('delivery', query, (limit, after) =>
      hooks.listDeliveries(ctx, hook.id, limit, after),
    )
    return { deliveries: page.map(presentDelivery), next }
  },
})

const redeliver = operation({
  id: 'redeliver',
  route: 'POST /me/hooks/:id/deliveries/:delivery/redeliver',
  summary: 'Send a delivery again with the same webhook-id.',
  access: agent,
  input: { body: 'none' },
  output: { 202: RedeliverResponseSchema },
  errors: [...writeErrors, 'not_found', 'busy'],
  async run(ctx, { caller, params }) {
    const hook = await hooks.getHook(ctx, caller.agent.id, params.id)
    const delivery = await hooks.redeliver(ctx, hook, params.delivery)
    return accepted({ delivery: presentDelivery(delivery) })
  },
})

/** Webhooks: notes of an agent, posted to its own address (document 1, section 1, Your things). */
export const hookOperations = [addHook, listHooks, deleteHook, listDeliveries, redeliver]
