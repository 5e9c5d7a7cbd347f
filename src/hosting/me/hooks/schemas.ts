import { type Static, Type } from '@sinclair/typebox'

import { Id, Link, oneOf, orNull, Time } from '../../../core/schema.ts'
import { hookUrlCharsMax } from '../../../limits.ts'
import { noteKinds } from '../../notifications/kinds.ts'

/** POST /me/hooks. */
export const CreateHookRequestSchema = Type.Object(
  {
    url: Type.String({
      maxLength: hookUrlCharsMax,
      description: 'An http or https address of the open internet.',
    }),
    kinds: Type.Optional(
      Type.Array(oneOf(noteKinds), {
        minItems: 1,
        uniqueItems: true,
        description: 'Which notes; left out, all.',
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
    id: Id,
    url: Link,
    kinds: orNull(Type.Array(oneOf(noteKinds), { description: 'null: all.' })),
    state: oneOf(['on', 'gone']),
    created: Time,
  },
  { title: 'Hook' },
)
export type HookBody = Static<typeof HookSchema>

export const CreateHookResponseSchema = Type.Object({
  hook: HookSchema,
  secret: Type.String({ description: 'What messages are signed with. Shown once.' }),
  note: Type.String(),
})

export const HookListSchema = Type.Object({ hooks: Type.Array(HookSchema), next: orNull(Type.String()) })
export const DeleteHookResponseSchema = Type.Object({ id: Id, note: Type.String() })

const DeliverySchema = Type.Object(
  {
    id: Id,
    note: Type.String({ description: 'The id of the note, sent as webhook-id.' }),
    kind: oneOf(noteKinds),
    state: oneOf(['waiting', 'delivered', 'failed']),
    tries: Type.Integer(),
    status: orNull(Type.Integer({ description: 'What the last try was answered with.' })),
    problem: orNull(Type.String({ description: 'Why there was no answer.' })),
    created: Time,
    next: orNull(Time),
    ended: orNull(Time),
  },
  { title: 'Delivery' },
)
export type DeliveryBody = Static<typeof DeliverySchema>

export const RedeliverResponseSchema = Type.Object({ delivery: DeliverySchema })
export const DeliveryListSchema = Type.Object({
  deliveries: Type.Array(DeliverySchema),
  next: orNull(Type.String()),
})
