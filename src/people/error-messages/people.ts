import { Type } from '@sinclair/typebox'

import { formatCredits } from '../../kernel/money.ts'
import { t } from '../../kernel/words/message.ts'
import { type ErrorRows, limitRow, retryHint } from './row.ts'

/** Returns the row of an error whose `error` is its name for clients of OAuth (RFC 6749, 5.2). */
const tokenError = <Facts extends unknown[]>(
  error: string,
  text: string | ((...facts: Facts) => string),
) => {
  const message = typeof text === 'string' ? () => text : text
  return {
    status: 400 as const,
    message,
    onPage: message,
    details: (...facts: Facts) => ({ error, error_description: message(...facts) }),
    fields: { error_description: Type.String() },
  }
}

/** Errors of claims, sign-in, accounts and wallets. */
export const people = {
  bad_code: {
    status: 404,
    message:
      'This claim code is invalid. Check it, or have the agent create a new one: POST /me/claim.',
    onPage: 'This claim code is not valid. Check for typos, or ask the agent for a new claim link.',
  },
  code_used: {
    status: 409,
    message:
      'This claim code has already been used. Have the agent create a new one: POST /me/claim.',
    onPage: 'This claim code has already been used. Ask the agent for a new claim link.',
  },
  code_expired: {
    status: 410,
    message: 'This claim code has expired. Have the agent create a new one: POST /me/claim.',
    onPage: 'This claim code has expired. Ask the agent for a new claim link.',
  },
  claim_locked: limitRow('Your address sent {max} wrong codes. {retryHint}'),
  authorization_pending: tokenError(
    'authorization_pending',
    'The person has not approved this sign-in yet. Ask again after 5 s.',
  ),
  access_denied: tokenError(
    'access_denied',
    'The person denied this sign-in. Start a new one: POST /device/authorization.',
  ),
  expired_token: tokenError(
    'expired_token',
    'This device code is unknown, was used or has expired. Start a new sign-in: POST /device/authorization.',
  ),
  invalid_grant: tokenError(
    'invalid_grant',
    'This code or refresh token is unknown, was used, has expired or belongs to another client. Sign in again.',
  ),
  unsupported_grant_type: tokenError(
    'unsupported_grant_type',
    'The grant type must be authorization_code or refresh_token. For a device, use POST /device/token.',
  ),
  invalid_client: tokenError('invalid_client', ({ problem }: { problem: string }) => problem),
  invalid_scope: tokenError(
    'invalid_scope',
    'The scope is one or more of read, publish and spend, and a refresh cannot add one. Change "scope".',
  ),
  invalid_target: tokenError(
    'invalid_target',
    ({ resource }: { resource: string }) =>
      `Tokens work for ${resource} alone. Send it as "resource".`,
  ),
  invalid_redirect_uri: tokenError(
    'invalid_redirect_uri',
    ({ problem }: { problem: string }) => problem,
  ),
  invalid_client_metadata: tokenError(
    'invalid_client_metadata',
    ({ problem }: { problem: string }) => problem,
  ),
  invalid_authorization: tokenError(
    'invalid_request',
    ({ problem }: { problem: string }) => problem,
  ),
  client_registrations_limit: limitRow(
    'Your address registered {max} clients in an hour, the maximum. {retryHint}',
  ),
  bad_device_code: {
    status: 404,
    message:
      'This code is wrong, was used or has expired. Check it, or start the sign-in on the device again.',
  },
  device_codes_limit: limitRow(
    'Your address started {max} sign-ins in an hour, the maximum. {retryHint}',
  ),
  not_signed_in: {
    status: 401,
    code: 'no_key',
    message: ({ signIn, isSession }) =>
      isSession
        ? t('You are not signed in. Sign in at {signIn}, and send the cookie of the session.', {
            signIn,
          })
        : t(
            'You are not signed in. Sign in at {signIn}, or send a personal key as Authorization: Bearer <key>.',
            { signIn },
          ),
  },
  bad_personal_key: {
    status: 401,
    code: 'bad_key',
    message: 'This personal key is invalid or revoked. Create a new one at {account}.',
  },
  cross_site: {
    status: 403,
    message:
      'The request did not come from a current page of this site. Open the page again, or send a personal key.',
    onPage: 'This form was not sent from a current page of this site. Reload the page.',
  },
  bad_sign_in: {
    status: 401,
    message: ({ own, isOther }) => {
      if (own) return t('This password is wrong. Enter it again.')
      return isOther
        ? t('The name or the credentials are wrong. Check both.')
        : t('Wrong username or password. Check both.')
    },
  },
  bad_password: {
    status: 401,
    message: 'This password is wrong. Ask the maker for the right one.',
  },
  sign_in_locked: {
    status: 429,
    message: (facts) =>
      t('There were too many attempts. {retryHint}', { retryHint: retryHint(facts) }),
  },
  name_taken: { status: 409, message: 'This name is taken. Choose another.' },
  sign_in_stale: {
    status: 400,
    message:
      'This sign-in has expired, has been used, or was started in another browser. Start again.',
  },
  sign_in_again: {
    status: 403,
    message:
      'This changes how you sign in and needs a recent sign-in. Sign in again, then come back.',
  },
  bad_passkey: {
    status: 401,
    message: '{why} Nothing was changed. Try again.',
  },
  no_provider: {
    status: 403,
    message: 'The sign-in provider did not confirm your identity: {why}. Try again.',
  },
  provider_silent: {
    status: 503,
    message: 'The sign-in provider is not responding. Try again in a minute.',
  },
  identity_taken: {
    status: 409,
    message:
      'This sign-in belongs to another account. Sign in to that account with it, or unlink it there.',
  },
  last_way_in: {
    status: 409,
    message:
      'This is your only way to sign in. Set a password or add a passkey before you remove it.',
  },
  wallet_short: {
    status: 402,
    code: 'not_enough_credits',
    message: ({ needed, available }) =>
      `This needs ${formatCredits(needed)} credits and you have ${formatCredits(available)}. Nothing was sent. Add money in your wallet on the website, or ask the operator for a grant.`,
    onPage: ({ needed, available }) =>
      t(
        'This costs {needed} credits and your wallet has {available}. Nothing was transferred. Add credits in your wallet.',
        { needed: formatCredits(needed), available: formatCredits(available) },
      ),
  },
} satisfies ErrorRows
