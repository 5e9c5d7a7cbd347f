import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../context.ts'
import { familyOf } from '../../core/address.ts'
import { ApiError } from '../../errors.ts'
import type { Person } from './people.ts'
import { isValidTicket, createTicket, ticketMs } from './tickets.ts'

const Bytes = Type.String({ maxLength: 16_384, pattern: '^[A-Za-z0-9_-]*$' })
const Base = {
  id: Bytes,
  rawId: Bytes,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
}

/** What `toJSON()` of a new credential answers (WebAuthn Level 3, 5.1). */
const Registration = Type.Object({
  ...Base,
  response: Type.Object({ clientDataJSON: Bytes, attestationObject: Bytes }),
})

/** What it answers of one that has signed, and whose device knows who it is for. */
const Assertion = Type.Object({
  ...Base,
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Bytes,
  }),
})

type Act = 'add' | 'enter'

/** What a ticket is for whose text is a challenge. `holder` is the browser, or the session. */
export const ticketPurpose = (act: Act, holder: string): string => `passkey ${act} ${holder}`

export const toBase64Url = (data: string | Uint8Array): string =>
  Buffer.from(data).toString('base64url')

/** Refuses bad_passkey. */
export function rejectPasskey(why = 'This is no answer of a passkey.'): never {
  throw new ApiError('bad_passkey', { why })
}

/**
 * Whose passkeys they are: this place's, by its host name. Browsers let one have some over https,
 * or on the machine itself.
 */
function siteOf({ urls }: AppContext): { id: string; origin: string } | undefined {
  const { protocol, hostname, origin } = new URL(urls.app)
  const isName = familyOf(hostname.replace(/^\[|\]$/g, '')) === 0
  const isSafe = protocol === 'https:' || /(^|\.)localhost$/.test(hostname)
  return isName && isSafe ? { id: hostname, origin } : undefined
}

const challengeFor = (ctx: AppContext, act: Act, holder: string): string =>
  toBase64Url(createTicket(ctx, ticketPurpose(act, holder)))

/**
 * What a browser is asked to sign in with: any passkey of this place, with the device's own check
 * of who holds it. Undefined where there can be no passkeys.
 */
export function requestOptions(
  ctx: AppContext,
  holder: string,
): PublicKeyCredentialRequestOptionsJSON | undefined {
  const site = siteOf(ctx)
  const challenge = challengeFor(ctx, 'enter', holder)
  return site && { challenge, rpId: site.id, timeout: ticketMs, userVerification: 'required' }
}

/** Algorithms of keys, the preferred first: Ed25519, P-256 and RSA (COSE). */
const algorithms = [-8, -7, -257]

/** What a browser is asked to make a passkey with; a device that has one of `known` makes none. */
export function creationOptions(
  ctx: AppContext,
  person: Person,
  known: { credential: string }[],
  holder: string,
): PublicKeyCredentialCreationOptionsJSON | undefined {
  const site = siteOf(ctx)
  return (
    site && {
      challenge: challengeFor(ctx, 'add', holder),
      rp: { id: site.id, name: 'Berth' },
      user: { id: toBase64Url(person.id), name: person.name, displayName: person.name },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: known.map(({ credential }) => ({ id: credential, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
      timeout: ticketMs,
    }
  )
}

/** What the library finds wrong, in our words: its own repeat what was sent. */
const faults: [RegExp, string][] = [
  [/origin|RP ID/i, 'This passkey is for another address than this place has.'],
  [/verified|present/i, 'Your device did not check that it is you. Set a PIN, a finger or a face.'],
  [/counter/i, 'This passkey has counted no further than before, as a copy of it would.'],
]

/** What every answer is checked against, and how to tell the ticket that was signed with it. */
function expectationOf(ctx: AppContext, act: Act, holder: string) {
  const site = siteOf(ctx) ?? rejectPasskey('This place can have no passkeys.')
  let ticket = ''
  const expectedChallenge = (challenge: string): boolean => {
    ticket = Buffer.from(challenge, 'base64url').toString()
    if (!isValidTicket(ctx, ticketPurpose(act, holder), ticket)) throw new ApiError('sign_in_stale')
    return true
  }
  return {
    options: {
      expectedChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    },
    ticket: () => ticket,
  }
}

async function orRefuse<T>(check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    if (error instanceof ApiError) throw error
    const said = error instanceof Error ? error.message : ''
    return rejectPasskey(faults.find(([words]) => words.test(said))?.[1])
  }
}

function read<S extends TSchema>(shape: S, text: string): Static<S> {
  try {
    const sent: unknown = JSON.parse(text)
    if (Value.Check(shape, sent)) return sent
  } catch {}
  return rejectPasskey()
}

/** Only who uses a passkey needs it. */
const library = () => import('@simplewebauthn/server')

/** A new credential and the ticket it was made with. Refuses bad_passkey, sign_in_stale. */
export async function verifyRegistration(
  ctx: AppContext,
  holder: string,
  answer: string,
): Promise<{ credential: WebAuthnCredential; ticket: string }> {
  const response = read(Registration, answer)
  const { verifyRegistrationResponse } = await library()
  const { options, ticket } = expectationOf(ctx, 'add', holder)
  const found = await orRefuse(
    verifyRegistrationResponse({ ...options, response, supportedAlgorithmIDs: algorithms }),
  )
  const { credential } = found.registrationInfo ?? rejectPasskey()
  return { credential, ticket: ticket() }
}

/** The credential that an answer names, and the person it is for, before anything is proved. */
export function parseAssertion(answer: string): { credential: string; person: string } {
  const { id, response } = read(Assertion, answer)
  return { credential: id, person: Buffer.from(response.userHandle, 'base64url').toString() }
}

/** What a known credential has counted to, and the ticket it signed. Refuses as `registered`. */
export async function verifyAssertion(
  ctx: AppContext,
  holder: string,
  answer: string,
  known: { credential: string; publicKey: string; counter: number },
): Promise<{ counter: number; ticket: string }> {
  const response = read(Assertion, answer)
  const { verifyAuthenticationResponse } = await library()
  const { options, ticket } = expectationOf(ctx, 'enter', holder)
  const publicKey = new Uint8Array(Buffer.from(known.publicKey, 'base64url'))
  const credential = { id: known.credential, publicKey, counter: known.counter }
  const found = await orRefuse(verifyAuthenticationResponse({ ...options, response, credential }))
  if (!found.verified) rejectPasskey()
  return { counter: found.authenticationInfo.newCounter, ticket: ticket() }
}
