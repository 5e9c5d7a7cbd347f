import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, asc, eq, lt, or } from 'drizzle-orm'

import { ipVersion } from '../kernel/address.ts'
import type { AppContext } from '../kernel/context.ts'
import { countRows } from '../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { keyNameCharsMax, passkeysPerPersonMax } from '../kernel/limits.ts'
import { isPlainLine } from '../kernel/text.ts'
import { removeSignInMethod } from './identities.ts'
import { findPerson, lockActivePerson, type Person } from './people.ts'
import { checkFresh } from './sessions.ts'
import { type SignInClient, type SignInResult, signInUnguessably } from './sign-in.ts'
import { passkeys } from './tables.ts'
import { consumeTicket, createTicket, isValidTicket, ticketMs } from './tickets.ts'

const Bytes = Type.String({ maxLength: 16_384, pattern: '^[A-Za-z0-9_-]*$' })
const Base = {
  id: Bytes,
  rawId: Bytes,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
}

/** The JSON of a new credential (WebAuthn Level 3, 5.1). */
const Registration = Type.Object({
  ...Base,
  response: Type.Object({ clientDataJSON: Bytes, attestationObject: Bytes }),
})

/** The JSON of an assertion with a user handle. */
const Assertion = Type.Object({
  ...Base,
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Bytes,
  }),
})

type Action = 'add' | 'enter'

/** Returns the purpose of a ticket that is a challenge. `holder` is the browser or the session. */
const ticketPurpose = (action: Action, holder: string): string => `passkey ${action} ${holder}`

const toBase64Url = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url')

/** Throws `bad_passkey`. */
function rejectPasskey(why = 'The response of the passkey is invalid.'): never {
  throw new ApiError('bad_passkey', { why })
}

/** Returns the relying party. Browsers allow passkeys only over https and on localhost. */
function relyingParty({ urls }: AppContext): { id: string; origin: string } | undefined {
  const { protocol, hostname, origin } = new URL(urls.app)
  const isHostName = ipVersion(hostname.replace(/^\[|\]$/g, '')) === 0
  const isSecure = protocol === 'https:' || /(^|\.)localhost$/.test(hostname)
  return isHostName && isSecure ? { id: hostname, origin } : undefined
}

const challengeFor = (ctx: AppContext, action: Action, holder: string): string =>
  toBase64Url(createTicket(ctx, ticketPurpose(action, holder)))

/** Returns the options of a sign-in; undefined where passkeys are not possible. */
export function requestOptions(
  ctx: AppContext,
  holder: string,
): PublicKeyCredentialRequestOptionsJSON | undefined {
  const party = relyingParty(ctx)
  const challenge = challengeFor(ctx, 'enter', holder)
  return party && { challenge, rpId: party.id, timeout: ticketMs, userVerification: 'required' }
}

/** COSE algorithms, the preferred first: Ed25519, P-256 and RSA. */
const algorithms = [-8, -7, -257]

/** Returns the options of a new passkey. A device with one of the `known` passkeys creates none. */
export function creationOptions(
  ctx: AppContext,
  person: Person,
  known: { credential: string }[],
  holder: string,
): PublicKeyCredentialCreationOptionsJSON | undefined {
  const party = relyingParty(ctx)
  return (
    party && {
      challenge: challengeFor(ctx, 'add', holder),
      rp: { id: party.id, name: 'Berth' },
      user: { id: toBase64Url(person.id), name: person.name, displayName: person.name },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: known.map(({ credential }) => ({ id: credential, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
      timeout: ticketMs,
    }
  )
}

/** Messages by error of the library, whose own messages repeat the input. */
const messages: [RegExp, string][] = [
  [/origin|RP ID/i, 'This passkey is for another site.'],
  [
    /verified|present/i,
    'Your device did not verify you. Set up a PIN, fingerprint or face unlock.',
  ],
  [/counter/i, 'The counter of this passkey did not increase, so it may be a copy.'],
]

/** Returns the expected values of a response, and a function that returns its ticket. */
function expectationOf(ctx: AppContext, action: Action, holder: string) {
  const party = relyingParty(ctx) ?? rejectPasskey('Passkeys are not available on this server.')
  let ticket = ''
  const expectedChallenge = (challenge: string): boolean => {
    ticket = Buffer.from(challenge, 'base64url').toString()
    if (!isValidTicket(ctx, ticketPurpose(action, holder), ticket))
      throw new ApiError('sign_in_stale')
    return true
  }
  return {
    options: {
      expectedChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    },
    ticket: () => ticket,
  }
}

async function asPasskeyError<T>(check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    if (error instanceof ApiError) throw error
    const text = error instanceof Error ? error.message : ''
    return rejectPasskey(messages.find(([pattern]) => pattern.test(text))?.[1])
  }
}

function parse<S extends TSchema>(schema: S, text: string): Static<S> {
  try {
    const value: unknown = JSON.parse(text)
    if (Value.Check(schema, value)) return value
  } catch {}
  return rejectPasskey()
}

/** Loaded with the first use of a passkey. */
const library = () => import('@simplewebauthn/server')

/** Returns a new credential and its ticket. Throws `bad_passkey` and `sign_in_stale`. */
async function verifyRegistration(
  ctx: AppContext,
  holder: string,
  browserResponse: string,
): Promise<{ credential: WebAuthnCredential; ticket: string }> {
  const response = parse(Registration, browserResponse)
  const { verifyRegistrationResponse } = await library()
  const { options, ticket } = expectationOf(ctx, 'add', holder)
  const found = await asPasskeyError(
    verifyRegistrationResponse({ ...options, response, supportedAlgorithmIDs: algorithms }),
  )
  const { credential } = found.registrationInfo ?? rejectPasskey()
  return { credential, ticket: ticket() }
}

/** Returns the credential and the person that a response names, unverified. */
function parseAssertion(browserResponse: string): { credential: string; person: string } {
  const { id, response } = parse(Assertion, browserResponse)
  return { credential: id, person: Buffer.from(response.userHandle, 'base64url').toString() }
}

/** Verifies a signature and returns the counter and ticket. Throws as `verifyRegistration` does. */
async function verifyAssertion(
  ctx: AppContext,
  holder: string,
  browserResponse: string,
  known: { credential: string; publicKey: string; counter: number },
): Promise<{ counter: number; ticket: string }> {
  const response = parse(Assertion, browserResponse)
  const { verifyAuthenticationResponse } = await library()
  const { options, ticket } = expectationOf(ctx, 'enter', holder)
  const publicKey = new Uint8Array(Buffer.from(known.publicKey, 'base64url'))
  const credential = { id: known.credential, publicKey, counter: known.counter }
  const found = await asPasskeyError(
    verifyAuthenticationResponse({ ...options, response, credential }),
  )
  if (!found.verified) rejectPasskey()
  return { counter: found.authenticationInfo.newCounter, ticket: ticket() }
}

export type Passkey = typeof passkeys.$inferSelect

/** The browser or session that must have requested the challenge, and its client. */
interface PasskeyOrigin {
  holder: string
  from: SignInClient
}

/** Adds a passkey. Throws `bad_request`, `bad_passkey`, `sign_in_stale` and `sign_in_again`. */
export async function addPasskey(
  ctx: AppContext,
  person: Person,
  { name, answer }: { name: string; answer: string },
  { holder, from }: PasskeyOrigin,
): Promise<void> {
  checkFresh(ctx, from.before)
  if (name.trim() === '' || !isPlainLine(name, keyNameCharsMax))
    rejectRequest(`The name of a passkey must be one line of 1 to ${keyNameCharsMax} characters.`)
  const { credential, ticket } = await verifyRegistration(ctx, holder, answer)
  const { id, publicKey, counter } = credential
  await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    await consumeTicket(ctx, db, ticketPurpose('add', holder), ticket)
    const count = await countRows(db, passkeys, eq(passkeys.person, person.id))
    if (count >= passkeysPerPersonMax)
      rejectRequest(
        `You have reached the limit of ${passkeysPerPersonMax} passkeys. Remove one first.`,
      )
    const added = await db
      .insert(passkeys)
      .values({
        id: newId(),
        credential: id,
        person: person.id,
        name: name.trim(),
        counter,
        publicKey: toBase64Url(publicKey),
        created: ctx.clock.now(),
      })
      .onConflictDoNothing()
      .returning({ id: passkeys.id })
    if (added.length === 0) rejectPasskey('This passkey is already registered.')
  })
}

const unknown = 'This passkey is not registered for any account.'

/** Signs a person in. Throws `bad_passkey`, `sign_in_stale` and `sign_in_locked`. */
export const signInWithPasskey = (
  ctx: AppContext,
  browserResponse: string,
  { holder, from }: PasskeyOrigin,
): Promise<SignInResult> =>
  signInUnguessably(ctx, 'passkey', from, async () => {
    const { credential, person } = parseAssertion(browserResponse)
    const isCredential = eq(passkeys.credential, credential)
    const [known] = await ctx.db.read.select().from(passkeys).where(isCredential)
    if (known?.person !== person) return rejectPasskey(unknown)
    const { counter, ticket } = await verifyAssertion(ctx, holder, browserResponse, known)
    await ctx.db.tx(async (db) => {
      await consumeTicket(ctx, db, ticketPurpose('enter', holder), ticket)
      // A cloned passkey may have signed in meanwhile.
      const isNext = or(lt(passkeys.counter, counter), eq(passkeys.counter, 0))
      const counted = await db
        .update(passkeys)
        .set({ counter, seen: ctx.clock.now() })
        .where(and(isCredential, isNext))
        .returning({ id: passkeys.id })
      if (counted.length === 0) rejectPasskey(unknown)
    })
    return findPerson(ctx, person)
  })

/** Lists the passkeys of a person, oldest first. */
export const list = (ctx: AppContext, person: Person): Promise<Passkey[]> =>
  ctx.db.read
    .select()
    .from(passkeys)
    .where(eq(passkeys.person, person.id))
    .orderBy(asc(passkeys.created), asc(passkeys.id))
    .limit(passkeysPerPersonMax)

/** Removes a passkey. Throws `not_found` and `last_way_in`. */
export const remove = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeSignInMethod(ctx, person, passkeys, { id, what: 'passkey' })
