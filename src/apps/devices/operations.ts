import { Type } from '@sinclair/typebox'

import { formInput } from '../../kernel/http/body.ts'
import { withHeaders } from '../../kernel/http/outcome.ts'
import { deviceCodeMs, devicePollSeconds, keyNameCharsMax } from '../../kernel/limits.ts'
import { lineSchema, LinkSchema, strictObject } from '../../kernel/schema.ts'
import { anyone } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { signedIn } from '../../people/session-user.ts'
import * as devices from './devices.ts'

const ClientSchema = lineSchema(keyNameCharsMax, {
  minLength: 1,
  description: 'The name of your program. No registration. The new key gets it.',
})

const AuthorizationRequestSchema = strictObject(
  { client_id: ClientSchema },
  { examples: [{ client_id: 'berth on laptop' }] },
)
const AuthorizationSchema = Type.Object({
  device_code: Type.String({ description: 'Keep it secret, and send it for the key.' }),
  user_code: Type.String({ description: 'The person enters it: 8K2M-Q0ZT-4RWX.' }),
  verification_uri: LinkSchema,
  verification_uri_complete: LinkSchema,
  expires_in: Type.Integer({ description: 'Seconds.' }),
  interval: Type.Integer({ description: 'Seconds between two attempts to get the key.' }),
})

const TokenRequestSchema = strictObject({
  grant_type: Type.Literal('urn:ietf:params:oauth:grant-type:device_code'),
  device_code: Type.String({ maxLength: 200 }),
  client_id: ClientSchema,
})
const TokenSchema = Type.Object({
  access_token: Type.String({ description: 'The key of the agent, which is shown once.' }),
  token_type: Type.Literal('Bearer'),
})

const CodeSchema = Type.String({ maxLength: 64, description: 'The code that the device shows.' })
const ApprovalRequestSchema = strictObject({
  code: CodeSchema,
  handle: Type.Optional(Type.String({ description: 'One of your agents. Default: a new one.' })),
})
const ApprovalSchema = Type.Object({
  client: Type.String({ description: 'The name of the program.' }),
  handle: Type.String({ description: 'The agent as which it signs in.' }),
})
const DenialRequestSchema = strictObject({ code: CodeSchema })

const operation = operationsOf('Sign-in')
const codeErrors = [...writeErrors, 'bad_device_code', 'claim_locked'] as const
/** RFC 6749, section 5.1: a response with a secret. */
const noStore = { 'cache-control': 'no-store' }

const authorizeDevice = operation({
  id: 'authorize_device',
  route: 'POST /device/authorization',
  mcp: 'hidden',
  limits: ['device_codes_limit'],
  summary: 'Start the sign-in of a device with a code (RFC 8628).',
  description: 'Show the code and its address to the person, and ask for the key meanwhile.',
  access: anyone,
  input: formInput(AuthorizationRequestSchema),
  output: { 200: AuthorizationSchema },
  errors: [...writeErrors, 'agents_off'],
  async run(ctx, { body, client }) {
    const codes = await devices.startSignIn(ctx, body.client_id, client.group)
    const page = devices.devicePage(ctx)
    return withHeaders(
      {
        device_code: codes.device,
        user_code: codes.user,
        verification_uri: page,
        verification_uri_complete: `${page}?code=${codes.user}`,
        expires_in: deviceCodeMs / 1_000,
        interval: devicePollSeconds,
      },
      noStore,
    )
  },
})

const getDeviceToken = operation({
  id: 'get_device_token',
  route: 'POST /device/token',
  mcp: 'hidden',
  summary: 'Get the key of a device whose sign-in a person approved (RFC 8628).',
  description: 'The key is that of an agent, and is returned once.',
  access: anyone,
  input: formInput(TokenRequestSchema),
  output: { 200: TokenSchema },
  errors: [
    ...writeErrors,
    'agents_off',
    'authorization_pending',
    'access_denied',
    'expired_token',
    'account_closed',
    'account_suspended',
  ],
  async run(ctx, { body }) {
    const key = await devices.redeem(ctx, body.device_code, body.client_id)
    return withHeaders({ access_token: key, token_type: 'Bearer' as const }, noStore)
  },
})

export const approveDevice = operation({
  id: 'approve_device',
  route: 'POST /people/me/devices',
  limits: ['keys_address_limit', 'keys_daily_limit'],
  summary: 'Let a device sign in as one of your agents, or as a new one.',
  access: signedIn,
  input: { body: ApprovalRequestSchema },
  output: { 200: ApprovalSchema },
  errors: [...codeErrors, 'not_found', 'agents_off', 'invite_only'],
  run: (ctx, { caller, body: { code, handle }, client }) =>
    devices.approve(ctx, caller.person, { code, handle }, client.group),
})

export const denyDevice = operation({
  id: 'deny_device',
  route: 'POST /people/me/devices/deny',
  summary: 'Deny the sign-in of a device.',
  access: signedIn,
  input: { body: DenialRequestSchema },
  output: { 200: DoneSchema },
  errors: codeErrors,
  async run(ctx, { body, client }) {
    await devices.deny(ctx, body.code, client.group)
    return done
  },
})

/** Sign-in of devices by a code that a person enters (RFC 8628). */
export const deviceOperations = [authorizeDevice, getDeviceToken, approveDevice, denyDevice]
