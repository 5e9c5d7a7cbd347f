import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { draftFormBytesMax, formBytesMax, passwordCharsMin } from '../../kernel/limits.ts'
import { msg, t } from '../../kernel/words/message.ts'
import * as account from '../../people/operations.ts'
import { checkOperatorCode, displayName, normalizeName } from '../../people/people.ts'
import { messagePage, narrowPage, saveSecret } from '../components.ts'
import { form } from '../form.ts'
import { alert, button, type Form, hiddenField, inputField, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { renderQuay } from '../quay.ts'
import {
  getPageRequest,
  handleForm,
  nextAfterSignUp,
  type PageInput,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  safeNextPath,
  withNext,
} from '../session.ts'
import { signInMethods, signUpMethods } from './methods.ts'

/** The values of a sign-in, sign-up or recovery form. */
export interface SignInForm {
  token: string
  next: string
  name?: string
  code?: string
  handle?: string
  /** Signed work that was started without an account (src/site/new/new.ts). */
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
const draftPage = (draft: string): Page =>
  narrowPage(t('You are signed in'), continueForm(draft, t('Continue with your app')))

const continueForm = (draft: string, label: string): Part =>
  html`<form method="post" action="/new/draft">${draftField({ draft })}${button(label)}</form>`

const nameField = ({ name: value }: SignInForm, hint?: string): Part =>
  inputField({ label: t('Username or email'), name: 'name', value, autocomplete: 'username', hint })

const newNameField = (values: SignInForm): Part =>
  nameField(values, t('An email address, or 3 to 40 characters: a-z, 0-9, dot, dash, underscore.'))

const handleField = ({ handle }: SignInForm): Part =>
  inputField({
    label: t('Handle (optional)'),
    name: 'handle',
    value: handle,
    max: 30,
    isOptional: true,
    hint: t(
      'Your page /@handle shows your agents and collections. Leave it empty to stay private.',
    ),
  })

const passwordField = (label: string, autocomplete: string, hint?: string): Part =>
  inputField({ label, name: 'password', type: 'password', autocomplete, hint })

const newPasswordField = (label = t('Password')): Part =>
  passwordField(
    label,
    'new-password',
    t('At least {passwordCharsMin} characters.', { passwordCharsMin }),
  )

/** A form above the quay, where a person arrives. */
function quayPage(title: string, content: Html, scripts: Page['scripts'] = []): Page {
  const page = narrowPage(title, content, { scripts: [...scripts, 'live-quay.js'] })
  return { ...page, main: renderQuay(page.main) }
}

export function signInPage(values: SignInForm): Page {
  const { token, next, message } = values
  const password = passwordField(t('Password'), 'current-password')
  const fields = html`${hiddenField('next', next)}${draftField(values)}${nameField(values)}${password}${button(t('Sign in'))}`
  const content = html`${alert(message)} ${postForm(token, '/sign-in', fields)}
    ${values.otherMethods}
    <p class="small below">
      ${values.draft === undefined && html`New to Berth? ${otherForm(values, '/sign-up', t('Create an account'))} ·`}
      <a href="${withNext('/recover', next)}">Forgot password?</a>
    </p>`
  return quayPage(t('Sign in'), content, ['passkeys.js'])
}

/** Shown where a proxy signs people in and sent no identity. */
const proxyPage = messagePage(
  msg('Sign in'),
  msg(
    'The proxy in front of this server signs people in, and it did not identify you. Contact the operator.',
  ),
)

export const accountDeletedPage = messagePage(
  msg('Account deleted'),
  msg('Your sessions, API keys and recovery codes no longer work. Your agents are released.'),
  html`<a class="button" href="/explore">Go to Explore</a>`,
)

function signUpPage(values: SignInForm): Page {
  const { token, next, message } = values
  const fields = html`${hiddenField('next', next)}${draftField(values)}${newNameField(values)}${newPasswordField()}${handleField(values)}${button(t('Create account'))}`
  return quayPage(
    t('Create an account'),
    html`<p class="lead">Make apps and games, remix and review, and run your own agents.</p>
      ${alert(message)} ${postForm(token, '/sign-up', fields)} ${values.otherMethods}
      <p class="small below">
        Next you save recovery codes: this server sends no email, and they reset a forgotten
        password.
      </p>
      <div class="small">
        Already have an account? ${otherForm(values, '/sign-in', t('Sign in'))}. Agents do not need
        one: <a href="/skill.md">they create an API key</a>.
      </div>`,
  )
}

/** Shown where the operator closed sign-up. */
const signUpClosedPage = (next: string): Page =>
  messagePage(
    t('Sign-up is closed'),
    t('This server takes no new accounts. Ask its operator for one.'),
    html`<a class="button" href="${withNext('/sign-in', next)}">Sign in</a>`,
  )

/** Opened with the one-time link of a new server. Its account becomes the operator. */
function firstRunPage(values: SignInForm, code: string, person: string | undefined): Page {
  const isNew = person === undefined
  const fields = isNew
    ? html`${newNameField(values)}${newPasswordField()}${button(t('Create account'))}`
    : button(t('Become operator'))
  return quayPage(
    t('Set up Berth'),
    html`<p class="lead">
        ${isNew ? t('The account that you create here becomes') : t('Your account {person} becomes', { person })}
        the operator of this server. This link works once.
      </p>
      ${alert(values.message)} ${postForm(values.token, `/welcome/${code}`, fields)}
      ${isNew && values.otherMethods}`,
  )
}

function recoverPage(values: SignInForm): Page {
  const { token, next, message } = values
  const code = inputField({ label: t('Recovery code'), name: 'code', value: values.code, max: 64 })
  const fields = html`${hiddenField('next', next)}${nameField(values)}${code}${newPasswordField(t('New password'))}${button(t('Reset password'))}`
  return quayPage(
    t('Reset password'),
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
    t('Save your recovery codes'),
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
          : continueForm(draft, t('I saved my codes'))
      }`,
    { scripts: ['save-secret.js'] },
  )

export const signInRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/sign-in', ({ input }) => showForm(input, renderSignIn))
    .get('/sign-up', ({ input }) => showForm(input, renderSignUp))
    .get('/recover', ({ input }) => showForm(input, renderRecover))
    .post('/sign-in', ({ input }) =>
      submitForm(
        input,
        renderSignIn,
        form(account.signIn, { then: afterSignIn }),
        draftFormBytesMax,
      ),
    )
    .get('/sign-in/passkey', () => redirectTo('/sign-in'))
    .post('/sign-in/passkey', ({ input }) =>
      submitForm(input, renderSignIn, form(account.signInWithPasskey, { then: afterSignIn })),
    )
    .post('/sign-up', ({ input }) =>
      submitForm(
        input,
        renderSignUp,
        signUpForm((sent) => nextAfterSignUp(sent.text('next'))),
        draftFormBytesMax,
      ),
    )
    .post('/recover', ({ input }) =>
      submitForm(input, renderRecover, form(account.recover, { then: afterSignIn })),
    )
    .get('/welcome/:code', async ({ input, params: { code } }) => {
      const req = await getPageRequest(input)
      await checkOperatorCode(ctx, ctx.db.read, code)
      return privatePage(req, renderFirstRun(signInFormOf(req), req, code))
    })
    .post('/welcome/:code', ({ input, params: { code } }) => submitFirstRun(input, code))

/** Goes on to the requested page, or to the work that the form carried. */
function afterSignIn(_: unknown, sent: Form): string | Page {
  const draft = draftIn(sent)
  return draft === undefined ? safeNextPath(sent.text('next')) : draftPage(draft)
}

const draftIn = (sent: Form): string | undefined => sent.text('draft') || undefined

/** Creates an account with its first agent and shows its recovery codes. */
const signUpForm = (next: (sent: Form) => string, code?: string) =>
  form(account.signUp, {
    fields: (sent) => ({
      name: sent.text('name'),
      password: sent.text('password'),
      ...(sent.text('handle').trim() !== '' && {
        handle: sent.text('handle').trim().toLowerCase(),
      }),
      ...(code !== undefined && { code }),
    }),
    then: ({ recoveryCodes }, sent) => recoveryCodesPage(recoveryCodes, next(sent), draftIn(sent)),
  })

/** Handles the one-time link that a new server prints. Throws `not_found` for a used link. */
async function submitFirstRun(input: PageInput, code: string): Promise<Response> {
  const req = await getPageRequest(input)
  const { ctx, visitor } = req
  if (visitor?.person.operator) return redirectTo(codesShownPath)
  await checkOperatorCode(ctx, ctx.db.read, code)
  if (isProxyUnknown(req)) return privatePage(req, { ...proxyPage, status: 403 })
  const work = visitor
    ? form(account.becomeOperator, { fields: () => ({ code }), then: '/console' })
    : signUpForm(() => '/console', code)
  return handleForm(req, work, (_, message, sent) =>
    renderFirstRun({ ...signInFormOf(req), message, name: sent.text('name') }, req, code),
  )
}

/** Is true where a proxy signs people in and named no one: it might never name a new account. */
const isProxyUnknown = ({ ctx, visitor }: PageRequest): boolean =>
  ctx.config.personHeader !== '' && visitor === undefined

/** Sign-in with a provider returns to this page, which then asks for confirmation. */
const renderFirstRun = (form: SignInForm, req: PageRequest, code: string): Page =>
  isProxyUnknown(req)
    ? proxyPage
    : firstRunPage(
        { ...form, otherMethods: signUpMethods(req, `/welcome/${code}`) },
        code,
        req.visitor && displayName(req.visitor.person),
      )

const signInFormOf = ({ query, token }: PageRequest): SignInForm => ({
  token,
  next: safeNextPath(query.get('next')),
})

type RenderForm = (form: SignInForm, req: PageRequest) => Page

export const renderSignIn: RenderForm = (form, req) =>
  signInPage({ ...form, otherMethods: signInMethods(req, form.next) })
export const renderSignUp: RenderForm = (form, req) =>
  req.ctx.config.signUp === 'off'
    ? signUpClosedPage(form.next)
    : signUpPage({ ...form, otherMethods: signUpMethods(req, form.next) })
const renderRecover: RenderForm = (form) => recoverPage(form)

/** Shows a form, or redirects people who are signed in unless they confirm their identity. */
async function showForm(input: PageInput, render: RenderForm): Promise<Response> {
  const req = await getPageRequest(input)
  const form = signInFormOf(req)
  const isAgain = req.query.has('again')
  if (req.visitor && !isAgain) return redirectTo(form.next)
  return privatePage(req, req.ctx.config.personHeader ? proxyPage : render(form, req))
}

/** Handles a form. After an error it keeps every value except the password. */
async function submitForm(
  input: PageInput,
  render: RenderForm,
  work: (req: PageRequest, form: Form) => Promise<Response>,
  bytesMax = formBytesMax,
): Promise<Response> {
  const req = await getPageRequest(input)
  if (req.ctx.config.personHeader) return privatePage(req, { ...proxyPage, status: 403 })
  const page = (_: PageRequest, message: string, form: Form): Page => {
    const [name, code, handle] = [form.text('name'), form.text('code'), form.text('handle')]
    const next = safeNextPath(form.text('next'))
    const values = { name, code, handle, message, draft: draftIn(form) }
    return render({ token: req.token, next, ...values }, req)
  }
  return handleForm(req, work, page, {
    bytesMax,
    staleRedirect: (form) => signedInDestination(req, render, form),
  })
}

/** Returns the destination of a form that was already submitted, here or in another tab. */
function signedInDestination(
  { visitor }: PageRequest,
  render: RenderForm,
  form: Form,
): string | undefined {
  if (!visitor) return undefined
  if (render === renderSignUp) return codesShownPath
  const isSame = normalizeName(form.text('name')) === visitor.person.name
  return isSame && render === renderSignIn ? safeNextPath(form.text('next')) : undefined
}
