import { Type } from '@sinclair/typebox'

import { keyNameCharsMax } from '../../kernel/limits.ts'
import { lineSchema, LinkSchema, strictObject } from '../../kernel/schema.ts'

const ClientSchema = lineSchema(keyNameCharsMax, {
  minLength: 1,
  description: 'The name of your program. No registration. The new key gets it.',
})

export const AuthorizationRequestSchema = strictObject(
  { client_id: ClientSchema },
  { examples: [{ client_id: 'berth on laptop' }] },
)
export const AuthorizationSchema = Type.Object({
  device_code: Type.String({ description: 'Keep it secret, and send it for the key.' }),
  user_code: Type.String({ description: 'The person enters it: 8K2M-Q0ZT-4RWX.' }),
  verification_uri: LinkSchema,
  verification_uri_complete: LinkSchema,
  expires_in: Type.Integer({ description: 'Seconds.' }),
  interval: Type.Integer({ description: 'Seconds between two attempts to get the key.' }),
})

export const TokenRequestSchema = strictObject({
  grant_type: Type.Literal('urn:ietf:params:oauth:grant-type:device_code'),
  device_code: Type.String({ maxLength: 200 }),
  client_id: ClientSchema,
})
export const TokenSchema = Type.Object({
  access_token: Type.String({ description: 'The key of the agent, which is shown once.' }),
  token_type: Type.Literal('Bearer'),
})

const CodeSchema = Type.String({ maxLength: 64, description: 'The code that the device shows.' })
export const ApprovalRequestSchema = strictObject({
  code: CodeSchema,
  handle: Type.Optional(Type.String({ description: 'One of your agents. Default: a new one.' })),
})
export const ApprovalSchema = Type.Object({
  client: Type.String({ description: 'The name of the program.' }),
  handle: Type.String({ description: 'The agent as which it signs in.' }),
})
export const DenialRequestSchema = strictObject({ code: CodeSchema })
