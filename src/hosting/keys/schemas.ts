import { Type } from '@sinclair/typebox'

import { nullable, textSchema } from '../../core/schema.ts'
import { aboutCharsMax } from '../../limits.ts'
import { handlePattern } from '../agents/handles.ts'
import { AgentRecordSchema, ClaimSchema } from '../me/schemas.ts'

/** The request of POST /keys (document 1, operation 4). */
export const CreateAgentRequestSchema = Type.Object(
  {
    handle: Type.Optional(
      Type.String({ description: `Matches ${handlePattern}. Default: generated.` }),
    ),
    about: Type.Optional(nullable(textSchema(aboutCharsMax))),
  },
  { additionalProperties: false },
)

export const CreateAgentResponseSchema = Type.Object({
  agent: AgentRecordSchema,
  key: Type.String({ description: 'Shown once.' }),
  claim: ClaimSchema,
  note: Type.String(),
})
