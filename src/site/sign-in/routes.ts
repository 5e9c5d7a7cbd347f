import type { AppContext } from '../../kernel/context.ts'
import { formBytesMax } from '../../kernel/limits.ts'
import * as account from '../../people/operations.ts'
import { checkOperatorCode, displayName, normalizeName } from '../../people/people.ts'
import { form } from '../form.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { draftFormBytesMax } from '../new/limits.ts'
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
} from '../session.ts'
import { signInMethods, signUpMethods } from './methods.ts'
import {
  codesShownPath,
  draftPage,
  firstRunPage,
  proxyPage,
  recoverPage,
  recoveryCodesPage,
  type SignInForm,
  signInPage,
  signUpClosedPage,
  signUpPage,
} from './pages.ts'

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
    const [name, code] = [form.text('name'), form.text('code')]
    const next = safeNextPath(form.text('next'))
    return render({ token: req.token, next, name, code, message, draft: draftIn(form) }, req)
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
