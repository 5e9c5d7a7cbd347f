import { inWords } from '../../core/money.ts'
import { type Rows, wait } from './row.ts'

/** What people are told. */
export const people = {
  bad_code: {
    status: 404,
    say: () =>
      'This is no claim code that works here. Check it, or have the agent make a new one: ' +
      'POST /me/claim.',
  },
  code_used: { status: 409, say: () => 'This code was used already. It works once.' },
  code_expired: {
    status: 410,
    say: () => 'This claim code has expired. Have the agent make a new one: POST /me/claim.',
  },
  claim_locked: {
    status: 429,
    say: (facts) => `${facts.max} wrong codes came from this address. ${wait(facts)}`,
  },
  not_signed_in: {
    status: 401,
    code: 'no_key',
    say: ({ signIn }) =>
      `Sign in at ${signIn}, or send a personal key as Authorization: Bearer <key>.`,
  },
  bad_personal_key: {
    status: 401,
    code: 'bad_key',
    say: ({ account }) => `This is no live personal key. Make one at ${account}.`,
  },
  cross_site: {
    status: 403,
    say: () =>
      'This did not come from a page that is still good here. Open the page again, or send a ' +
      'personal key.',
  },
  bad_sign_in: {
    status: 401,
    say: ({ own }) =>
      own
        ? 'This is not your password. Type it again.'
        : 'This name and what you sent with it do not belong together. Check both.',
  },
  sign_in_locked: { status: 429, say: (facts) => `That was tried too often. ${wait(facts)}` },
  name_taken: { status: 409, say: () => 'This name is taken. Choose another.' },
  sign_in_stale: {
    status: 400,
    say: () =>
      'This sign-in was begun too long ago or in another browser, or was used already. Begin again.',
  },
  sign_in_again: {
    status: 403,
    say: () =>
      'This changes how you sign in, and you did that a while ago. Sign in again, then come back.',
  },
  bad_passkey: { status: 401, say: ({ why }) => `${why} Nothing was changed.` },
  no_provider: {
    status: 403,
    say: ({ why }) => `The sign-in provider did not say who you are: ${why}. Try again.`,
  },
  provider_silent: {
    status: 503,
    say: () => 'The sign-in provider does not answer now. Try again in a minute.',
  },
  identity_taken: {
    status: 409,
    say: () => 'This sign-in belongs to another account already. Sign in with it, or unlink it.',
  },
  last_way_in: {
    status: 409,
    say: () => 'You could not sign in without it. Set a password or add a passkey first.',
  },
  wallet_short: {
    status: 402,
    code: 'not_enough_credits',
    say: ({ needed, available }) =>
      `This takes ${inWords(needed)} credits and you have ${inWords(available)}. Nothing was moved. ` +
      'The operator adds to your wallet with: berth grant <your name> <usd>.',
  },
} satisfies Rows
