import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import * as identities from '../../people/identities.ts'
import { providerName } from '../../people/identity-provider.ts'
import * as passkeys from '../../people/passkeys.ts'
import { creationOptions, requestOptions } from '../../people/passkeys.ts'
import { isFresh } from '../../people/sessions.ts'
import { createTicket } from '../../people/tickets.ts'
import { section } from '../components.ts'
import { renderDate } from '../format.ts'
import { button, confirmDialog, hiddenField, inputField, postForm } from '../forms.ts'
import { dataTable } from '../lists.ts'
import { type PageRequest, type UserRequest, withNext } from '../session.ts'

/** A form that the browser submits with the passkey's response in `answer`. */
const passkeyForm = (
  options: object,
  token: string,
  action: string,
  fields: Part,
  name = 'form',
): Html =>
  html`<passkey-form data-options="${JSON.stringify(options)}">
    ${postForm(token, action, html`${hiddenField('answer', '')}${fields}`, name)}
  </passkey-form>`

export function signInMethods({ ctx, token }: PageRequest, next: string): Part {
  const options = requestOptions(ctx, token)
  const fields = html`${hiddenField('next', next)}${button(t('Sign in with a passkey'), 'quiet')}`
  const passkey = options && passkeyForm(options, token, '/sign-in/passkey', fields)
  return html`<div class="sign-in-methods">${passkey}${providerLink(ctx, next)}</div>`
}

export const signUpMethods = ({ ctx }: PageRequest, next: string): Part =>
  html`<div class="sign-in-methods">${providerLink(ctx, next)}</div>`

function providerLink(ctx: PageRequest['ctx'], next: string): Part {
  const name = providerName(ctx)
  return (
    name !== undefined &&
    html`<a class="button quiet" href="${withNext('/sign-in/oidc', next)}">Sign in with ${name}</a>`
  )
}

/** The purpose of a link ticket, which proves that this session requested the link. */
export const linkPurpose = (token: string): string => `link ${token}`

/** Lists passkeys and linked identities. Adding one requires a recent sign-in. */
export async function accountSignInMethods(req: UserRequest): Promise<Part> {
  const { ctx, token, visitor } = req
  const { person, session } = visitor
  if (!session) return false
  const known = await passkeys.list(ctx, person)
  const options = creationOptions(ctx, person, known, token)
  const name = providerName(ctx)
  const linked = await identities.list(ctx, person)
  const canAdd = isFresh(ctx, session)
  const signInAgain = html`<p class="small below">
    <a href="${withNext('/sign-in', '/account')}&amp;again=yes">Sign in again</a> to add one.
  </p>`
  const add = html`${inputField({ label: t('Passkey name'), name: 'name', max: 80 })}${button(t('Add passkey'), 'quiet')}`
  const url = `/sign-in/oidc?link=${createTicket(ctx, linkPurpose(token))}`
  const link = html`<p class="actions">
    <a class="button quiet" href="${url}">Connect ${name}</a>
  </p>`
  return html`${
    options &&
    section(
      t('Passkeys'),
      html`<p class="small">
          Sign in with your device’s PIN, fingerprint or face instead of a password.
        </p>
        ${methodTable(token, 'passkeys', known)}
        ${canAdd ? passkeyForm(options, token, '/account/passkeys', add, 'form line') : signInAgain}`,
    )
  }${
    (name !== undefined || linked.length > 0) &&
    section(
      t('Connected accounts'),
      html`<p class="small">Sign in with your ${name ?? 'provider'} account.</p>
        ${methodTable(token, 'identities', linked)}
        ${name !== undefined && linked.length === 0 && (canAdd ? link : signInAgain)}`,
    )
  }`
}

interface SignInMethod {
  id: string
  name: string
  created: number
  seen?: number | null
}

function methodTable(token: string, path: string, methods: SignInMethod[]): Part {
  const hasLastUse = methods[0]?.seen !== undefined
  const row = ({ id, name, created, seen }: SignInMethod): Part[] => {
    const fields = html`${hiddenField('remove', id)}${confirmDialog({
      label: t('Remove'),
      target: name,
      question: html`Remove <bdi>${name}</bdi>?`,
      consequence: t('You can no longer sign in with it.'),
    })}`
    return [
      html`<bdi>${name}</bdi>`,
      renderDate(created),
      ...(hasLastUse ? [seen ? renderDate(seen) : t('Never')] : []),
      postForm(token, `/account/${path}`, fields, 'act'),
    ]
  }
  const used = hasLastUse ? [t('Last used')] : []
  const heads = [{ long: t('Name') }, t('Added'), ...used, { unseen: t('Remove') }]
  const label = hasLastUse ? t('Passkeys') : t('Connected accounts')
  return dataTable(label, heads, methods.map(row), false)
}
