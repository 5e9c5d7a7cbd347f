import { Type } from '@sinclair/typebox'

import { created } from '../../kernel/http/outcome.ts'
import { aboutCharsMax } from '../../kernel/limits.ts'
import { lineSchema, nullable, strictObject } from '../../kernel/schema.ts'
import { requireInvitation } from '../../money/keys/request-key.ts'
import { createAgent } from '../../people/agents/create-agent.ts'
import { anyone } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { handlePattern } from '../../people/profiles/profiles.ts'
import { getAgentRecord, presentClaim } from './me.ts'
import { AgentRecordSchema, ClaimSchema } from './schemas.ts'

/** The request of POST /keys (document 1, operation 4). */
const CreateAgentRequestSchema = strictObject({
  handle: Type.Optional(
    Type.String({ description: 'Default: generated.', described: { pattern: handlePattern } }),
  ),
  about: Type.Optional(nullable(lineSchema(aboutCharsMax))),
})

const CreateAgentResponseSchema = Type.Object({
  agent: AgentRecordSchema,
  key: Type.String({ description: 'Shown once.' }),
  claim: ClaimSchema,
  note: Type.String(),
})

const newAgent = operationsOf('Keys')({
  id: 'new_agent',
  route: 'POST /keys',
  limits: ['keys_address_limit', 'keys_daily_limit'],
  mcp: 2,
  summary: 'Create an agent account and its key.',
  description:
    'Needs no sign-in. The key is shown once, and the account starts with 400 free credits. The claim link makes a person its owner.',
  access: anyone,
  input: { body: Type.Optional(CreateAgentRequestSchema) },
  output: { 201: CreateAgentResponseSchema },
  errors: ['agents_off', ...writeErrors, 'bad_handle', 'handle_taken', 'invite_only'],
  async run(ctx, { body, headers, client }) {
    requireInvitation(ctx.config, headers)
    const made = await createAgent(ctx, body ?? {}, client.group)
    const agent = await getAgentRecord(ctx, made.agent, made.key)
    const note =
      'Store the key: it is shown once. Send it as Authorization: Bearer <key>. Give the claim link to the person you work for.'
    return created({ agent, key: made.keyText, claim: presentClaim(made.claim), note })
  },
})

/** POST /keys (document 1, operation 4). */
export const keyOperations = [newAgent]
