import { Type } from '@sinclair/typebox'

import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { languageCookie } from '../kernel/http/accept.ts'
import { created, withCookies } from '../kernel/http/outcome.ts'
import { groupMembersMax } from '../kernel/limits.ts'
import { strictObject } from '../kernel/schema.ts'
import { createFirstAgent } from './claims.ts'
import { listGroups, setGroup } from './groups.ts'
import * as identities from './identities.ts'
import * as keys from './keys.ts'
import { operationsOf, writeErrors } from './operation.ts'
import * as passkeys from './passkeys.ts'
import { becomeOperator as makeOperator, setLanguage as storeLanguage } from './people.ts'
import {
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  done,
  DoneSchema,
  RevokeKeyResponseSchema,
} from './schemas.ts'
import * as schemas from './schemas.ts'
import {
  clearedSessionCookie,
  operator,
  person,
  sessionCookie,
  type SignedIn,
  signedIn,
  signInCookies,
  visitor,
} from './session-user.ts'
import * as sessions from './sessions.ts'
import {
  changePassword as setPassword,
  recoverAccount,
  renewRecoveryCodes,
  signIn as startSession,
  signUp as createAccount,
} from './sign-in.ts'

const operation = operationsOf('Sign-in')

const signInErrors = [...writeErrors, 'bad_sign_in', 'sign_in_locked'] as const
const confirmErrors = [...signInErrors, 'sign_in_again', 'not_found'] as const

/** Throws `not_found` where a proxy signs people in: they have no password and no session here. */
function requireOwnSignIn({ config }: AppContext): void {
  if (config.personHeader === '') return
  throw new ApiError('not_found', {
    what: 'sign-in',
    see: 'A proxy signs people in to this server.',
  })
}

/** Throws `not_found` for a person whom a proxy signs in. */
function sessionOf({ session }: SignedIn): sessions.Session {
  if (session) return session
  throw new ApiError('not_found', { what: 'session' })
}

export const signIn = operation({
  id: 'sign_in',
  route: 'POST /session',
  mcp: 'hidden',
  onFullDisk: 'allow',
  summary: 'Sign in by name and password. Sets the cookie of the session.',
  access: visitor,
  input: { body: schemas.SignInRequestSchema },
  output: { 200: schemas.SignedInSchema },
  errors: [...signInErrors, 'not_found'],
  async run(ctx, { caller, body }) {
    requireOwnSignIn(ctx)
    const result = await startSession(ctx, body, caller.client)
    return withCookies({ name: result.person.name }, signInCookies(ctx, result))
  },
})

export const signInWithPasskey = operation({
  id: 'sign_in_with_passkey',
  route: 'POST /session/passkey',
  mcp: 'hidden',
  onFullDisk: 'allow',
  summary: 'Sign in with a passkey. Sets the cookie of the session.',
  description: 'The challenge is on the sign-in page.',
  access: visitor,
  input: { body: schemas.PasskeySignInRequestSchema },
  output: { 200: schemas.SignedInSchema },
  errors: [...signInErrors, 'bad_passkey', 'sign_in_stale', 'not_found'],
  async run(ctx, { caller, body }) {
    requireOwnSignIn(ctx)
    const by = { holder: caller.holder, from: caller.client }
    const result = await passkeys.signInWithPasskey(ctx, body.answer, by)
    return withCookies({ name: result.person.name }, signInCookies(ctx, result))
  },
})

export const signUp = operation({
  id: 'sign_up',
  route: 'POST /people',
  mcp: 'hidden',
  summary: 'Create an account with its first agent, and sign in.',
  access: visitor,
  input: { body: schemas.SignUpRequestSchema },
  output: { 201: schemas.SignedUpSchema },
  errors: [...signInErrors, 'name_taken', 'bad_handle', 'handle_taken', 'not_found'],
  async run(ctx, { caller, body }) {
    requireOwnSignIn(ctx)
    const { codes, ...result } = await createAccount(ctx, body, caller.client)
    await createFirstAgent(ctx, result.person, caller.client.address)
    const { name } = result.person
    return created({ name, recoveryCodes: codes }, signInCookies(ctx, result))
  },
})

export const recover = operation({
  id: 'recover_account',
  route: 'POST /people/recovery',
  mcp: 'hidden',
  onFullDisk: 'allow',
  summary: 'Set a new password with a recovery code, and sign in.',
  description: 'Ends all other sessions.',
  access: visitor,
  input: { body: schemas.RecoveryRequestSchema },
  output: { 200: schemas.SignedInSchema },
  errors: [...signInErrors, 'not_found'],
  async run(ctx, { caller, body }) {
    requireOwnSignIn(ctx)
    const result = await recoverAccount(ctx, body, caller.client)
    return withCookies({ name: result.person.name }, signInCookies(ctx, result))
  },
})

export const becomeOperator = operation({
  id: 'become_operator',
  route: 'POST /people/me/operator',
  onFullDisk: 'allow',
  summary: 'Become the first operator with the one-time link of the server.',
  access: signedIn,
  input: { body: schemas.OperatorRequestSchema },
  output: { 200: schemas.DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, body }) {
    await makeOperator(ctx, caller.person, body.code)
    return schemas.done
  },
})

export const signOut = operation({
  id: 'sign_out',
  route: 'DELETE /session',
  summary: 'End this session.',
  access: signedIn,
  output: { 200: schemas.DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller: { person, session } }) {
    if (session) await sessions.end(ctx, person, session.id)
    return withCookies(schemas.done, [clearedSessionCookie(ctx)])
  },
})

export const endSession = operation({
  id: 'end_session',
  route: 'DELETE /people/me/sessions/:id',
  summary: 'End another session of yours.',
  access: signedIn,
  output: { 200: schemas.DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    sessionOf(caller)
    await sessions.end(ctx, caller.person, params.id)
    return schemas.done
  },
})

export const changePassword = operation({
  id: 'change_password',
  route: 'PUT /people/me/password',
  onFullDisk: 'allow',
  summary: 'Set a new password. Ends all other sessions.',
  access: signedIn,
  input: { body: schemas.PasswordRequestSchema },
  output: { 200: schemas.DoneSchema },
  errors: confirmErrors,
  async run(ctx, { caller, body: { password = '', newPassword } }) {
    sessionOf(caller)
    const secret = await setPassword(ctx, caller.person, { password, newPassword }, caller.client)
    return withCookies(schemas.done, secret === undefined ? [] : [sessionCookie(ctx, secret)])
  },
})

export const renewCodes = operation({
  id: 'renew_recovery_codes',
  route: 'POST /people/me/recovery-codes',
  onFullDisk: 'allow',
  summary: 'Replace your recovery codes.',
  access: signedIn,
  input: { body: schemas.ConfirmRequestSchema },
  output: { 200: schemas.RecoveryCodesResponseSchema },
  errors: confirmErrors,
  async run(ctx, { caller, body: { password = '' } }) {
    sessionOf(caller)
    const { secret, codes } = await renewRecoveryCodes(ctx, caller.person, password, caller.client)
    const cookies = secret === undefined ? [] : [sessionCookie(ctx, secret)]
    return withCookies({ recoveryCodes: codes }, cookies)
  },
})

export const addPasskey = operation({
  id: 'add_passkey',
  route: 'POST /people/me/passkeys',
  onFullDisk: 'allow',
  summary: 'Add a passkey. Needs a recent sign-in.',
  description: 'The challenge is on the account page.',
  access: signedIn,
  input: { body: schemas.PasskeyRequestSchema },
  output: { 201: schemas.DoneSchema },
  errors: [...confirmErrors, 'bad_passkey', 'sign_in_stale'],
  async run(ctx, { caller, body }) {
    sessionOf(caller)
    const by = { holder: caller.holder, from: caller.client }
    await passkeys.addPasskey(ctx, caller.person, body, by)
    return created(schemas.done)
  },
})

export const removePasskey = operation({
  id: 'remove_passkey',
  route: 'DELETE /people/me/passkeys/:id',
  summary: 'Remove a passkey, unless it is your only way to sign in.',
  access: signedIn,
  output: { 200: schemas.DoneSchema },
  errors: [...writeErrors, 'not_found', 'last_way_in'],
  async run(ctx, { caller, params }) {
    sessionOf(caller)
    await passkeys.remove(ctx, caller.person, params.id)
    return schemas.done
  },
})

export const unlinkIdentity = operation({
  id: 'unlink_identity',
  route: 'DELETE /people/me/identities/:id',
  summary: 'Unlink a sign-in provider, unless it is your only way to sign in.',
  access: signedIn,
  output: { 200: schemas.DoneSchema },
  errors: [...writeErrors, 'not_found', 'last_way_in'],
  async run(ctx, { caller, params }) {
    sessionOf(caller)
    await identities.unlink(ctx, caller.person, params.id)
    return schemas.done
  },
})

export const setLanguage = operationsOf('People')({
  id: 'set_language',
  route: 'PUT /people/me/language',
  summary: 'Choose the language of the pages that you see.',
  description: 'null: the language of the browser. The API is in English.',
  access: person,
  input: { body: schemas.LanguageSchema },
  output: { 200: schemas.LanguageSchema },
  errors: writeErrors,
  async run(ctx, { caller, body: { language } }) {
    await storeLanguage(ctx, caller, language)
    // The browser keeps the choice after it signed out.
    return withCookies({ language }, [languageCookie(language)])
  },
})

export const addPersonalKey = operation({
  id: 'add_personal_key',
  route: 'POST /people/me/keys',
  idempotent: true,
  summary: 'Create a personal API key, with which scripts act on your behalf.',
  access: signedIn,
  input: { body: Type.Optional(CreateKeyRequestSchema) },
  output: { 201: CreateKeyResponseSchema },
  errors: writeErrors,
  run: async (ctx, { caller: { person }, body, ref }) =>
    created(
      await keys.createOnce(ctx, person.id, ref, () =>
        keys.create(ctx, person, 'person', body?.name ?? ''),
      ),
    ),
})

export const revokePersonalKey = operation({
  id: 'revoke_personal_key',
  route: 'DELETE /people/me/keys/:prefix',
  summary: 'Revoke a personal API key.',
  access: signedIn,
  output: { 200: RevokeKeyResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params: { prefix } }) {
    await keys.revoke(ctx, caller.person, 'person', prefix)
    return { prefix, revoked: true as const }
  },
})

/** Sign-in of people and their accounts (document 1, section 1, People). */
export const accountOperations = [
  signIn,
  signInWithPasskey,
  signOut,
  signUp,
  recover,
  becomeOperator,
  endSession,
  changePassword,
  renewCodes,
  addPasskey,
  removePasskey,
  unlinkIdentity,
  setLanguage,
  addPersonalKey,
  revokePersonalKey,
]

const operatorOperation = operationsOf('Operator')

const GroupSchema = Type.Object({
  name: Type.String(),
  people: Type.Array(Type.String(), { description: 'Members whom the operator added.' }),
  provided: Type.Integer({ description: 'Members whom the sign-in provider names.' }),
})

const listAllGroups = operatorOperation({
  id: 'list_groups',
  route: 'GET /operator/groups',
  mcp: 'hidden',
  summary: 'List the groups of people, with their members.',
  description: 'Makers open apps to groups. The claim "groups" of the sign-in provider adds some.',
  access: operator,
  output: { 200: Type.Object({ groups: Type.Array(GroupSchema) }) },
  run: async (ctx) => ({ groups: await listGroups(ctx) }),
})

export const changeGroup = operatorOperation({
  id: 'set_group',
  route: 'PUT /operator/groups/:name',
  mcp: 'hidden',
  summary: 'Set the members of a group; no members deletes it.',
  access: operator,
  input: {
    body: strictObject({
      people: Type.Array(Type.String({ maxLength: 120 }), {
        maxItems: groupMembersMax,
        description: 'Names of accounts.',
      }),
    }),
  },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, params, body }) {
    await setGroup(ctx, params.name, body.people, caller.name)
    return done
  },
})

/** Groups of people, which the operator makes. */
export const groupOperations = [listAllGroups, changeGroup]
