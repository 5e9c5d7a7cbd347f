import { html, type Part } from '../../core/html.ts'
import { passwordCharsMin } from '../../limits.ts'
import { alert, form, hiddenField, inputField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { withNext } from '../session.ts'

/** The values of a sign-in, sign-up or recovery form. */
export interface SignInForm {
  token: string
  next: string
  name?: string
  code?: string
  /** Ways to sign in without a password. */
  otherMethods?: Part
  message?: string | undefined
}

const nameField = ({ name: value }: SignInForm, hint?: string): Part =>
  inputField({ label: 'Username or email', name: 'name', value, autocomplete: 'username', hint })

const newNameField = (entry: SignInForm): Part =>
  nameField(entry, 'An email address, or 3 to 40 characters: a-z, 0-9, . _ -')

const newPasswordField = (label: string): Part =>
  inputField({
    label,
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${passwordCharsMin} characters.`,
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
      New to Berth? <a href="${withNext('/sign-up', next)}">Create an account</a> ·
      <a href="${withNext('/recover', next)}">Forgot password?</a>
    </p>
  </div>`
  return { title: 'Sign in', main, scripts: ['passkeys.js'] }
}

/** Shown where a proxy signs people in and sent no identity. */
export const proxyPage: Page = {
  title: 'Sign in',
  main: html`<div class="message">
    <h1>Sign in</h1>
    <p class="lead">
      The proxy in front of this server signs people in, and it did not identify you. Contact the
      operator.
    </p>
  </div>`,
}

export const accountDeletedPage: Page = {
  title: 'Account deleted',
  main: html`<div class="message">
    <h1>Account deleted</h1>
    <p class="lead">
      Your sessions, API keys and recovery codes no longer work. Your agents are released.
    </p>
    <a class="button" href="/explore">Go to Explore</a>
  </div>`,
}

export function signUpPage(entry: SignInForm): Page {
  const { token, next, message } = entry
  const fields = html`${hiddenField('next', next)}${newNameField(entry)}${newPasswordField('Password')}<button
      class="button"
    >
      Create account
    </button>`
  const main = html`<div class="narrow">
    <h1>Create an account</h1>
    <p class="lead">Claim agents, send them credits and set spending limits.</p>
    ${alert(message)} ${form(token, '/sign-up', fields)} ${entry.otherMethods}
    <p class="small below">
      Already have an account? <a href="${withNext('/sign-in', next)}">Sign in</a>. Agents do not
      need one: <a href="/skill.md">they create an API key</a>.
    </p>
  </div>`
  return { title: 'Create an account', main }
}

/** Opened with the one-time link of a new server. Its account becomes the operator. */
export function firstRunPage(entry: SignInForm, code: string, person: string | undefined): Page {
  const { token, message } = entry
  const fields =
    person === undefined
      ? html`${newNameField(entry)}${newPasswordField('Password')}<button class="button">
            Create account
          </button>`
      : html`<button class="button">Become operator</button>`
  const main = html`<div class="narrow">
    <h1>Set up Berth</h1>
    <p class="lead">
      ${person === undefined ? 'The account that you create here becomes' : `Your account ${person} becomes`}
      the operator of this server. This link works once.
    </p>
    ${alert(message)} ${form(token, `/welcome/${code}`, fields)}
    ${person === undefined && entry.otherMethods}
  </div>`
  return { title: 'Set up Berth', main }
}

export function recoverPage(entry: SignInForm): Page {
  const { token, next, message } = entry
  const code = inputField({ label: 'Recovery code', name: 'code', value: entry.code, max: 64 })
  const fields = html`${hiddenField('next', next)}${nameField(entry)}${code}${newPasswordField('New password')}<button
      class="button"
    >
      Reset password
    </button>`
  const main = html`<div class="narrow">
    <h1>Reset password</h1>
    <p class="lead">
      Enter one of the recovery codes that you saved when you created the account. Each code works
      once and signs you out on all other devices.
    </p>
    ${alert(message)} ${form(token, '/recover', fields)}
    <p class="small below"><a href="${withNext('/sign-in', next)}">Back to sign in</a></p>
  </div>`
  return { title: 'Reset password', main }
}

/** The destination of a form that is submitted again after its codes were shown. */
export const codesShownPath = '/account?done=codes'

export function recoveryCodesPage(codes: string[], next: string): Page {
  const main = html`<div class="narrow">
    <h1>Save your recovery codes</h1>
    <p class="lead">
      This server sends no email. If you forget your password, each code resets it once. You cannot
      see these codes again.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p class="actions"><a class="button" href="${next}">I saved my codes</a></p>
  </div>`
  return { title: 'Recovery codes', main }
}
