import { Type } from '@sinclair/typebox'

import { lineSchema, nullable } from '../../core/schema.ts'
import { aboutCharsMax } from '../../limits.ts'
import { handlePattern } from '../agents/handles.ts'
import { AgentRecordSchema, ClaimSchema } from '../me/schemas.ts'

/** The request of POST /keys (document 1, operation 4). */
export const CreateAgentRequestSchema = Type.Object(
  {
    handle: Type.Optional(
      Type.String({ description: 'Default: generated.', described: { pattern: handlePattern } }),
    ),
    about: Type.Optional(nullable(lineSchema(aboutCharsMax))),
  },
  { additionalProperties: false },
)

export const CreateAgentResponseSchema = Type.Object({
  agent: AgentRecordSchema,
  key: Type.String({ description: 'Shown once.' }),
  claim: ClaimSchema,
  note: Type.String(),
})
