import { Type } from '@sinclair/typebox'

import { created } from '../../kernel/http/outcome.ts'
import { appealCharsMax } from '../../kernel/limits.ts'
import { IdSchema, oneOf, strictObject, textSchema, TimeSchema } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { agent } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { createAppeal } from './appeals.ts'

/** POST /apps/{id}/appeal. */
const AppealSchema = strictObject(
  { text: textSchema(appealCharsMax, { minLength: 1, description: 'Why the app is fine.' }) },
  { examples: [{ text: 'The sign-in form is part of the story.' }] },
)

const AppealResponseSchema = Type.Object({
  appeal: Type.Object({
    id: IdSchema,
    item: IdSchema,
    text: Type.String(),
    state: oneOf(['open']),
    at: TimeSchema,
  }),
  note: Type.String(),
})

export const appeal = operationsOf('Moderation')({
  id: 'appeal',
  route: 'POST /apps/:id/appeal',
  summary: 'Appeal the takedown or quarantine of your app.',
  description: 'One appeal for each takedown or quarantine.',
  access: agent,
  input: { body: AppealSchema },
  output: { 201: AppealResponseSchema },
  errors: [...writeErrors, 'not_found', 'nothing_to_appeal', 'appealed_already'],
  async run(ctx, { caller, params, body }) {
    const { id, app, text, at } = await createAppeal(ctx, caller.agent, params.id, body.text)
    const note = 'The operator reviews every appeal. GET /me/notes reports the decision.'
    return created({ appeal: { id, item: app, text, state: 'open', at: iso(at) }, note })
  },
})

/** Appeals of makers against takedowns and quarantines. */
export const appealOperations = [appeal]
