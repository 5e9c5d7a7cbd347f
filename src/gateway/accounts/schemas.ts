import { type Static, Type } from '@sinclair/typebox'

import { keyNameCharsMax, modelIdCharsMax, runningPerKeyMax } from '../../kernel/limits.ts'
import {
  type Described,
  lenientObject,
  lineSchema,
  namedObject,
  nullable,
  sixDecimals,
  textSchema,
  TimeRequestSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import {
  keyModelsMax,
  keyNoteCharsMax,
  keyTagCharsMax,
  keyTagsMax,
  overlapHoursMax,
  perMinuteMax,
  projectNameCharsMax,
} from '../limits.ts'

const capMax = 1_000_000_000

/** POST /accounts/create (document 2, section 4). */
export const AccountSchema = Type.Object({
  credit_id: Type.String({ description: 'Id of the balance; not secret.' }),
  api_key: Type.String({ description: 'Shown once.' }),
})

export const BalanceRequestSchema = lenientObject({
  credit_id: Type.Optional(Type.String({ description: 'Your own credit_id.' })),
})

/** POST /credits/balance. Amounts in USD. */
export const BalanceSchema = Type.Object({
  balance: Type.Number(),
  held: Type.Number({ description: 'Reserved for running requests.' }),
  available: Type.Number({ description: 'balance - held' }),
  currency: Type.Literal('USDT'),
  credit_id: Type.String(),
})

const credits = (period: string, more: Partial<Described> = {}) =>
  Type.Number({
    ...more,
    minimum: 0,
    maximum: capMax,
    description: `Credits per ${period} (UTC); 1,000 credits are 1 USD. null: no limit.`,
  })
const perMinute = (unit: string) =>
  Type.Integer({ minimum: 1, maximum: perMinuteMax, description: `${unit} per minute.` })

const longCaps = (more?: Described) => ({
  weekly_cap: nullable(credits('week, from Monday', more)),
  monthly_cap: nullable(credits('calendar month', more)),
})

/** Limits of a key for teams. null: no limit. */
const limits = {
  ...longCaps(),
  requests_per_minute: nullable(perMinute('Requests')),
  tokens_per_minute: nullable(perMinute('Input and output tokens')),
  running_requests: nullable(
    Type.Integer({
      minimum: 1,
      maximum: runningPerKeyMax,
      description: 'Paid requests at the same time. null: the limit of the server.',
    }),
  ),
  models: nullable(
    Type.Array(lineSchema(modelIdCharsMax, { minLength: 1 }), {
      minItems: 1,
      maxItems: keyModelsMax,
      description: 'Ids that the key may use. An asterisk stands for any characters: openai/*.',
    }),
  ),
  expires_at: nullable(TimeSchema),
  note: nullable(textSchema(keyNoteCharsMax)),
  tags: Type.Array(lineSchema(keyTagCharsMax, { minLength: 1 }), { maxItems: keyTagsMax }),
  project: nullable(Type.String({ maxLength: 40, description: 'The id of a project.' })),
}

const key = {
  id: Type.String(),
  prefix: Type.String({ description: 'First characters of the key.' }),
  name: nullable(Type.String()),
  daily_cap: nullable(
    Type.Number({
      description: 'Credits per UTC day; 1,000 credits are 1 USD. null: no cap. 0: no spending.',
    }),
  ),
  ...limits,
  created: TimeSchema,
  current: Type.Boolean({ description: 'true: the key of this request.' }),
}

export const KeySchema = namedObject('Key', key)
export type KeyResponse = Static<typeof KeySchema>

export const KeyListSchema = Type.Object({ data: Type.Array(KeySchema) })
export const NewKeySchema = Type.Object({
  ...key,
  api_key: Type.String({ description: 'Shown once.' }),
})
export const DeletedKeySchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) })

/** Body of POST and PATCH /accounts/keys. */
export const KeyRequestSchema = lenientObject({
  name: Type.Optional(lineSchema(keyNameCharsMax, { minLength: 1 })),
  daily_cap: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: capMax, ...sixDecimals }))),
  ...Type.Partial(
    Type.Object({
      ...limits,
      ...longCaps(sixDecimals),
      expires_at: nullable(TimeRequestSchema),
    }),
  ).properties,
})
export type KeyParams = Static<typeof KeyRequestSchema>

/** Body of POST /accounts/keys/{id}/rotate. */
export const RotateRequestSchema = lenientObject({
  overlap_hours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: overlapHoursMax,
      description: 'Hours for which the old key still works; 24 by default, 0 for none.',
    }),
  ),
})
export type RotateParams = Static<typeof RotateRequestSchema>

const projectCaps = (more?: Described) => ({
  daily_cap: nullable(credits('day', more)),
  ...longCaps(more),
})
const projectName = lineSchema(projectNameCharsMax, { minLength: 1 })

export const ProjectSchema = namedObject('Project', {
  id: Type.String(),
  name: Type.String(),
  ...projectCaps(),
  spent: Type.Object(
    { day: Type.Number(), week: Type.Number(), month: Type.Number() },
    { description: 'Credits in the current periods, settled and held.' },
  ),
  created: TimeSchema,
})
export type ProjectResponse = Static<typeof ProjectSchema>

export const ProjectListSchema = Type.Object({ data: Type.Array(ProjectSchema) })
export const DeletedProjectSchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) })

const optionalCaps = Type.Partial(Type.Object(projectCaps(sixDecimals))).properties

/** Body of POST /accounts/projects. */
export const NewProjectSchema = lenientObject({ name: projectName, ...optionalCaps })

/** Body of PATCH /accounts/projects/{id}. */
export const ProjectRequestSchema = lenientObject({
  name: Type.Optional(projectName),
  ...optionalCaps,
})
export type ProjectParams = Static<typeof ProjectRequestSchema>
