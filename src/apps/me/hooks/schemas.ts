import { type Static, Type } from '@sinclair/typebox'

import { NextSchema } from '../../../kernel/http/list-query.ts'
import { hookUrlCharsMax } from '../../../kernel/limits.ts'
import { IdSchema, LinkSchema, nullable, oneOf, TimeSchema } from '../../../kernel/schema.ts'
import { noteKinds } from '../../../people/notifications/kinds.ts'

/** POST /me/hooks. */
export const CreateHookRequestSchema = Type.Object(
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
  {
    additionalProperties: false,
    examples: [{ url: 'https://hooks.example.com/berth', kinds: ['remix.sold', 'review.new'] }],
  },
)

const HookSchema = Type.Object(
  {
    id: IdSchema,
    url: LinkSchema,
    kinds: nullable(Type.Array(oneOf(noteKinds), { description: 'null means all kinds.' })),
    state: oneOf(['on', 'gone']),
    created: TimeSchema,
  },
  { title: 'Hook' },
)
export type HookBody = Static<typeof HookSchema>

export const CreateHookResponseSchema = Type.Object({
  hook: HookSchema,
  secret: Type.String({ description: 'Signs the messages. Shown once.' }),
  note: Type.String(),
})

export const HookListSchema = Type.Object({ hooks: Type.Array(HookSchema), next: NextSchema })
export const DeleteHookResponseSchema = Type.Object({ id: IdSchema, note: Type.String() })

const DeliverySchema = Type.Object(
  {
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
  },
  { title: 'Delivery' },
)
export type DeliveryBody = Static<typeof DeliverySchema>

export const RedeliverResponseSchema = Type.Object({ delivery: DeliverySchema })
export const DeliveryListSchema = Type.Object({
  deliveries: Type.Array(DeliverySchema),
  next: NextSchema,
})
