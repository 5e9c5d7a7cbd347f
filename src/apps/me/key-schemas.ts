import { Type } from '@sinclair/typebox'

import { aboutCharsMax } from '../../kernel/limits.ts'
import { lineSchema, nullable } from '../../kernel/schema.ts'
import { handlePattern } from '../../people/agents/handles.ts'
import { AgentRecordSchema, ClaimSchema } from './schemas.ts'

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
