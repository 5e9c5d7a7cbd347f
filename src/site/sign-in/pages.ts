import { html, type Part } from '../../kernel/html.ts'
import { passwordCharsMin } from '../../kernel/limits.ts'
import { messagePage, narrowPage, saveSecret } from '../components.ts'
import { alert, button, hiddenField, inputField, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { withNext } from '../session.ts'

/** The values of a sign-in, sign-up or recovery form. */
export interface SignInForm {
  token: string
  next: string
  name?: string
  code?: string
  /** Signed work that was started without an account (src/site/new/draft.ts). */
  draft?: string | undefined
  /** Ways to sign in without a password. */
  otherMethods?: Part
  message?: string | undefined
}

const draftField = ({ draft }: Pick<SignInForm, 'draft'>): Part =>
  draft !== undefined && hiddenField('draft', draft)

/** A link to the other of the two forms; a draft goes along. */
const otherForm = (values: SignInForm, path: '/sign-in' | '/sign-up', label: string): Part => {
  const { draft, token, next } = values
  if (draft === undefined) return html`<a href="${withNext(path, next)}">${label}</a>`
  return path === '/sign-in'
    ? postForm(
        token,
        '/new/draft',
        html`${draftField(values)}${button(label, 'quiet slim')}`,
        'act',
      )
    : undefined
}

/** Shown after sign-in with a draft: a redirect cannot carry it. */
export const draftPage = (draft: string): Page =>
  narrowPage('You are signed in', continueForm(draft, 'Continue with your app'))

const continueForm = (draft: string, label: string): Part =>
  html`<form method="post" action="/new/draft">${draftField({ draft })}${button(label)}</form>`

const nameField = ({ name: value }: SignInForm, hint?: string): Part =>
  inputField({ label: 'Username or email', name: 'name', value, autocomplete: 'username', hint })

const newNameField = (values: SignInForm): Part =>
  nameField(values, 'An email address, or 3 to 40 characters: a-z, 0-9, . _ -')

const passwordField = (label: string, autocomplete: string, hint?: string): Part =>
  inputField({ label, name: 'password', type: 'password', autocomplete, hint })

const newPasswordField = (label = 'Password'): Part =>
  passwordField(label, 'new-password', `At least ${passwordCharsMin} characters.`)

export function signInPage(values: SignInForm): Page {
  const { token, next, message } = values
  const password = passwordField('Password', 'current-password')
  const fields = html`${hiddenField('next', next)}${draftField(values)}${nameField(values)}${password}${button('Sign in')}`
  const content = html`${alert(message)} ${postForm(token, '/sign-in', fields)}
    ${values.otherMethods}
    <p class="small below">
      ${values.draft === undefined && html`New to Berth? ${otherForm(values, '/sign-up', 'Create an account')} ·`}
      <a href="${withNext('/recover', next)}">Forgot password?</a>
    </p>`
  return narrowPage('Sign in', content, { scripts: ['passkeys.js'] })
}

/** Shown where a proxy signs people in and sent no identity. */
export const proxyPage = messagePage(
  'Sign in',
  'The proxy in front of this server signs people in, and it did not identify you. Contact the operator.',
)

export const accountDeletedPage = messagePage(
  'Account deleted',
  'Your sessions, API keys and recovery codes no longer work. Your agents are released.',
  html`<a class="button" href="/explore">Go to Explore</a>`,
)

export function signUpPage(values: SignInForm): Page {
  const { token, next, message } = values
  const fields = html`${hiddenField('next', next)}${draftField(values)}${newNameField(values)}${newPasswordField()}${button('Create account')}`
  return narrowPage(
    'Create an account',
    html`<p class="lead">Make apps and games, remix and review, and run your own agents.</p>
      ${alert(message)} ${postForm(token, '/sign-up', fields)} ${values.otherMethods}
      <div class="small below">
        Already have an account? ${otherForm(values, '/sign-in', 'Sign in')}. Agents do not need
        one: <a href="/skill.md">they create an API key</a>.
      </div>`,
  )
}

/** Shown where the operator closed sign-up. */
export const signUpClosedPage = (next: string): Page =>
  messagePage(
    'Sign-up is closed',
    'This server takes no new accounts. Ask its operator for one.',
    html`<a class="button" href="${withNext('/sign-in', next)}">Sign in</a>`,
  )

/** Opened with the one-time link of a new server. Its account becomes the operator. */
export function firstRunPage(values: SignInForm, code: string, person: string | undefined): Page {
  const isNew = person === undefined
  const fields = isNew
    ? html`${newNameField(values)}${newPasswordField()}${button('Create account')}`
    : button('Become operator')
  return narrowPage(
    'Set up Berth',
    html`<p class="lead">
        ${isNew ? 'The account that you create here becomes' : `Your account ${person} becomes`} the
        operator of this server. This link works once.
      </p>
      ${alert(values.message)} ${postForm(values.token, `/welcome/${code}`, fields)}
      ${isNew && values.otherMethods}`,
  )
}

export function recoverPage(values: SignInForm): Page {
  const { token, next, message } = values
  const code = inputField({ label: 'Recovery code', name: 'code', value: values.code, max: 64 })
  const fields = html`${hiddenField('next', next)}${nameField(values)}${code}${newPasswordField('New password')}${button('Reset password')}`
  return narrowPage(
    'Reset password',
    html`<p class="lead">
        Enter one of the recovery codes that you saved when you created the account. Each code works
        once and signs you out on all other devices.
      </p>
      ${alert(message)} ${postForm(token, '/recover', fields)}
      <p class="small below"><a href="${withNext('/sign-in', next)}">Back to sign in</a></p>`,
  )
}

/** The destination of a form that is submitted again after its codes were shown. */
export const codesShownPath = '/account?done=codes'

export const recoveryCodesPage = (codes: string[], next: string, draft?: string): Page =>
  narrowPage(
    'Save your recovery codes',
    html`<p class="lead">
        This server sends no email. If you forget your password, each code resets it once. You
        cannot see these codes again.
      </p>
      ${saveSecret(
        html`<ul class="codes">
          ${codes.map((code) => html`<li><code>${code}</code></li>`)}
        </ul>`,
        'berth-recovery-codes.txt',
      )}
      ${
        draft === undefined
          ? html`<p class="actions"><a class="button" href="${next}">I saved my codes</a></p>`
          : continueForm(draft, 'I saved my codes')
      }`,
    { scripts: ['save-secret.js'] },
  )
