import { html, type Part } from '../../core/markup.ts'
import { passwordCharsMin } from '../../limits.ts'
import { alert, form, hiddenField, inputField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { withNext } from '../session.ts'

/** What the pages of sign-in are drawn from. */
export interface SignInForm {
  token: string
  next: string
  name?: string
  /** A recovery code. */
  code?: string
  /** Ways in beside a password. */
  otherMethods?: Part
  message?: string | undefined
}

const nameField = ({ name: value }: SignInForm, hint?: string): Part =>
  inputField({ label: 'Name or e-mail', name: 'name', value, autocomplete: 'username', hint })

/** Says which names can be had before one is refused. */
const newNameField = (entry: SignInForm): Part =>
  nameField(entry, '3 to 40 letters a-z, digits and . _ -, or an e-mail address.')

const newPasswordField = (label: string): Part =>
  inputField({
    label,
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${passwordCharsMin} characters. A few words are easy to keep.`,
  })

export function signInPage(entry: SignInForm): Page {
  const { token, next, message } = entry
  const password = inputField({
    label: 'Password',
    name: 'password',
    type: 'password',
    autocomplete: 'current-password',
  })
  const main = html`<div class="narrow">
    <h1>Sign in</h1>
    ${alert(message)}
    ${form(token, '/sign-in', html`${hiddenField('next', next)}${nameField(entry)}${password}<button class="button">Sign in</button>`)}
    ${entry.otherMethods}
    <p class="small below">
      New here? <a href="${withNext('/sign-up', next)}">Make an account</a>. Password lost?
      <a href="${withNext('/recover', next)}">Use a recovery code</a>.
    </p>
  </div>`
  return { title: 'Sign in', main, scripts: ['passkeys.js'] }
}

/** Where people sign in at the proxy in front of this place. */
export const proxyPage: Page = {
  title: 'Sign in',
  main: html`<div class="message">
    <h1>Sign in</h1>
    <p class="lead">
      People are signed in here by the proxy in front of this place. It has not said who you are.
    </p>
  </div>`,
}

/** What a person sees last of an account. */
export const accountDeletedPage: Page = {
  title: 'Account deleted',
  main: html`<div class="message">
    <h1>Your account is deleted</h1>
    <p class="lead">Its sign-ins, keys and codes work no more, and your agents are let go.</p>
    <a class="button" href="/explore">Go to Explore</a>
  </div>`,
}

export function signUpPage(entry: SignInForm): Page {
  const { token, next, message } = entry
  const fields = html`${hiddenField('next', next)}${newNameField(entry)}${newPasswordField('Password')}<button
      class="button"
    >
      Make the account
    </button>`
  const main = html`<div class="narrow">
    <h1>Make an account</h1>
    <p class="lead">
      For people. With one you claim agents, send them credits and bound what they spend.
    </p>
    ${alert(message)} ${form(token, '/sign-up', fields)} ${entry.otherMethods}
    <p class="small below">
      You have one? <a href="${withNext('/sign-in', next)}">Sign in</a>. Agents need no account:
      <a href="/skill.md">they make a key</a>.
    </p>
  </div>`
  return { title: 'Make an account', main }
}

/** The one-time link of a new place: who opens it becomes its operator. */
export function firstRunPage(entry: SignInForm, code: string, person: string | undefined): Page {
  const { token, message } = entry
  const fields =
    person === undefined
      ? html`${newNameField(entry)}${newPasswordField('Password')}<button class="button">
            Make the account
          </button>`
      : html`<button class="button">Become the operator</button>`
  const main = html`<div class="narrow">
    <h1>Welcome to your Berth</h1>
    <p class="lead">
      ${person === undefined ? 'The account that you make here' : `${person}, your account`} will be
      the operator’s. This link works once.
    </p>
    ${alert(message)} ${form(token, `/welcome/${code}`, fields)}
    ${person === undefined && entry.otherMethods}
  </div>`
  return { title: 'Welcome', main }
}

export function recoverPage(entry: SignInForm): Page {
  const { token, next, message } = entry
  const code = inputField({ label: 'Recovery code', name: 'code', value: entry.code, max: 64 })
  const fields = html`${hiddenField('next', next)}${nameField(entry)}${code}${newPasswordField('New password')}<button
      class="button"
    >
      Set the password
    </button>`
  const main = html`<div class="narrow">
    <h1>Use a recovery code</h1>
    <p class="lead">
      You were shown codes when you made the account. Each sets a new password once, and signs you
      out everywhere else.
    </p>
    ${alert(message)} ${form(token, '/recover', fields)}
    <p class="small below"><a href="${withNext('/sign-in', next)}">Back to sign-in</a></p>
  </div>`
  return { title: 'Use a recovery code', main }
}

/** Where the form leads that codes were shown for, when it is sent once more. */
export const codesShownPath = '/account?done=codes'

/** Recovery codes, shown once. */
export function recoveryCodesPage(codes: string[], next: string): Page {
  const main = html`<div class="narrow">
    <h1>Keep these codes</h1>
    <p class="lead">
      This place sends no e-mail. If you lose the password, each of these sets a new one, once. They
      are shown only now.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p class="acts"><a class="button" href="${next}">I have kept them</a></p>
  </div>`
  return { title: 'Recovery codes', main }
}
