import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import * as identities from '../../hosting/people/identities.ts'
import { providerName } from '../../hosting/people/identity-provider.ts'
import * as passkeys from '../../hosting/people/passkeys.ts'
import { isFresh } from '../../hosting/people/sessions.ts'
import { createTicket } from '../../hosting/people/tickets.ts'
import { creationOptions, requestOptions } from '../../hosting/people/webauthn.ts'
import { renderDate } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { dataTable } from '../data-table.ts'
import { form, hiddenField, inputField } from '../forms.ts'
import { type PageRequest, type SignedInRequest, withNext } from '../session.ts'

/** A form that is sent with what a device answers to these options. */
const passkeyForm = (
  options: object,
  token: string,
  action: string,
  fields: Part,
  name = 'form',
): Html =>
  html`<passkey-form data-options="${JSON.stringify(options)}">
    ${form(token, action, html`${hiddenField('answer', '')}${fields}`, name)}
  </passkey-form>`

/** Ways to sign in beside a password. */
export function signInMethods({ ctx, token }: PageRequest, next: string): Part {
  const options = requestOptions(ctx, token)
  const fields = html`${hiddenField('next', next)}<button class="button quiet">
      Use a passkey
    </button>`
  const passkey = options && passkeyForm(options, token, '/sign-in/passkey', fields)
  return html`<div class="ways">${passkey}${providerLink(ctx, next)}</div>`
}

/** The way to an account that is made without a password. */
export const signUpMethods = ({ ctx }: PageRequest, next: string): Part =>
  html`<div class="ways">${providerLink(ctx, next)}</div>`

function providerLink(ctx: PageRequest['ctx'], next: string): Part {
  const name = providerName(ctx)
  return (
    name !== undefined &&
    html`<a class="button quiet" href="${withNext('/sign-in/oidc', next)}">Sign in with ${name}</a>`
  )
}

/** What a link to the provider is for: the ticket in it shows that this session asked for it. */
export const linkPurpose = (token: string): string => `link ${token}`

/** How a person signs in, and what they may add: only right after they did. */
export async function accountSignInMethods(signedIn: SignedInRequest): Promise<Part> {
  const { ctx, token, visitor } = signedIn
  const { person, session } = visitor
  if (!session) return false
  const known = await passkeys.list(ctx, person)
  const options = creationOptions(ctx, person, known, token)
  const name = providerName(ctx)
  const linked = await identities.list(ctx, person)
  const isNow = isFresh(ctx, session)
  const again = html`<p class="small below">
    To add one, <a href="${withNext('/sign-in', '/account')}&amp;again=yes">sign in again</a> first.
  </p>`
  const add = html`${inputField({ label: 'Name of a new passkey', name: 'name', max: 80 })}<button
      class="button quiet"
    >
      Add a passkey
    </button>`
  const way = `/sign-in/oidc?link=${createTicket(ctx, linkPurpose(token))}`
  const link = html`<p class="acts"><a class="button quiet" href="${way}">Link ${name}</a></p>`
  return html`${
    options &&
    html`<section>
      <h2>Passkeys</h2>
      <p class="small">Sign in by your device’s PIN, finger or face, without a password.</p>
      ${methodTable(token, 'passkeys', known)}
      ${isNow ? passkeyForm(options, token, '/account/passkeys', add, 'form line') : again}
    </section>`
  }${
    (name !== undefined || linked.length > 0) &&
    html`<section>
      <h2>Sign-in elsewhere</h2>
      <p class="small">Who you are at ${name ?? 'a provider'} signs you in here.</p>
      ${methodTable(token, 'identities', linked)}
      ${name !== undefined && linked.length === 0 && (isNow ? link : again)}
    </section>`
  }`
}

interface SignInMethod {
  id: string
  name: string
  created: number
  seen?: number | null
}

function methodTable(token: string, act: string, ways: SignInMethod[]): Part {
  const isUsed = ways[0]?.seen !== undefined
  const row = ({ id, name, created, seen }: SignInMethod): Part[] => {
    const fields = html`${hiddenField('remove', id)}${confirmDialog({
      label: 'Remove',
      target: name,
      question: html`Remove <bdi>${name}</bdi>?`,
      consequence: 'It signs you in no longer.',
    })}`
    return [
      html`<bdi>${name}</bdi>`,
      renderDate(iso(created)),
      ...(isUsed ? [seen ? renderDate(iso(seen)) : 'Never'] : []),
      form(token, `/account/${act}`, fields, 'act'),
    ]
  }
  const used = isUsed ? ['Last used'] : []
  const heads = [{ long: 'Name' }, 'Added', ...used, { unseen: 'Remove' }]
  return ways.length > 0 && dataTable(isUsed ? 'Passkeys' : 'Linked', heads, ways.map(row))
}
