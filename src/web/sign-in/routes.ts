import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { signInWithPasskey } from '../../hosting/people/passkeys.ts'
import {
  becomeOperator,
  checkOperatorCode,
  displayName,
  normalizeName,
} from '../../hosting/people/people.ts'
import { recoverAccount, signIn, signUp } from '../../hosting/people/sign-in.ts'
import { queryOf } from '../components.ts'
import type { SubmittedForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  clientOf,
  getPageRequest,
  handleForm,
  type PageInput,
  type PageRequest,
  privatePage,
  redirectTo,
  safeNextPath,
  sessionCookie,
} from '../session.ts'
import { signInMethods, signUpMethods } from './methods.ts'
import {
  codesShownPath,
  firstRunPage,
  proxyPage,
  recoverPage,
  recoveryCodesPage,
  type SignInForm,
  signInPage,
  signUpPage,
} from './pages.ts'

/** Where people come in, and go out. */
export const signInRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/sign-in', ({ request }) => showForm({ ctx, layout, request }, renderSignIn))
    .get('/sign-up', ({ request }) => showForm({ ctx, layout, request }, renderSignUp))
    .get('/recover', ({ request }) => showForm({ ctx, layout, request }, renderRecover))
    .post(
      '/sign-in',
      ({ request }) =>
        submitForm({ ctx, layout, request }, renderSignIn, async (pageRequest, form) => {
          const message = { name: form.text('name'), password: form.text('password') }
          const { secret } = await signIn(ctx, message, clientOf(pageRequest))
          return redirectTo(safeNextPath(form.text('next')), sessionCookie(pageRequest, secret))
        }),
      { parse: 'none' },
    )
    .post(
      '/sign-in/passkey',
      ({ request }) =>
        submitForm({ ctx, layout, request }, renderSignIn, async (pageRequest, form) => {
          const by = { holder: pageRequest.token, from: clientOf(pageRequest) }
          const { secret } = await signInWithPasskey(ctx, form.text('answer'), by)
          return redirectTo(safeNextPath(form.text('next')), sessionCookie(pageRequest, secret))
        }),
      { parse: 'none' },
    )
    .post(
      '/sign-up',
      ({ request }) =>
        submitForm({ ctx, layout, request }, renderSignUp, (pageRequest, form) =>
          createAccount(pageRequest, form, undefined, safeNextPath(form.text('next'))),
        ),
      { parse: 'none' },
    )
    .post(
      '/recover',
      ({ request }) =>
        submitForm({ ctx, layout, request }, renderRecover, async (pageRequest, form) => {
          const [name, code] = [form.text('name'), form.text('code')]
          const message = { name, code, password: form.text('password') }
          const { secret } = await recoverAccount(ctx, message, clientOf(pageRequest))
          return redirectTo(safeNextPath(form.text('next')), sessionCookie(pageRequest, secret))
        }),
      { parse: 'none' },
    )
    .use(firstRunRoutes(ctx, layout))

/** The one-time link that is printed when a new place starts. */
const firstRunRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/welcome/:code', async ({ request, params: { code } }) => {
      const pageRequest = await getPageRequest({ ctx, layout, request })
      await checkOperatorCode(ctx, ctx.db.read, code)
      return privatePage(pageRequest, renderFirstRun(signInFormOf(pageRequest), pageRequest, code))
    })
    .post(
      '/welcome/:code',
      async ({ request, params: { code } }) => {
        const pageRequest = await getPageRequest({ ctx, layout, request })
        if (pageRequest.visitor?.person.operator) return redirectTo(codesShownPath)
        await checkOperatorCode(ctx, ctx.db.read, code)
        if (isProxyUnknown(pageRequest))
          return privatePage(pageRequest, { ...proxyPage, status: 403 })
        return handleForm(
          pageRequest,
          (_, form) => becomeFirstOperator(pageRequest, form, code),
          (_, message, form) =>
            renderFirstRun(
              { ...signInFormOf(pageRequest), message, name: form.text('name') },
              pageRequest,
              code,
            ),
        )
      },
      { parse: 'none' },
    )

/** An operator made here would be one whom the proxy may never name, and the link used up. */
const isProxyUnknown = ({ ctx, visitor }: PageRequest): boolean =>
  ctx.config.personHeader !== '' && visitor === undefined

/** Who comes by the provider comes back here, and is asked then. */
const renderFirstRun = (entry: SignInForm, pageRequest: PageRequest, code: string): Page =>
  isProxyUnknown(pageRequest)
    ? proxyPage
    : firstRunPage(
        { ...entry, otherMethods: signUpMethods(pageRequest, `/welcome/${code}`) },
        code,
        personName(pageRequest),
      )

async function becomeFirstOperator(
  pageRequest: PageRequest,
  form: SubmittedForm,
  code: string,
): Promise<Response> {
  if (!pageRequest.visitor) return createAccount(pageRequest, form, code, '/account')
  await becomeOperator(pageRequest.ctx, pageRequest.visitor.person, code)
  return redirectTo('/account')
}

const personName = ({ visitor }: PageRequest): string | undefined =>
  visitor && displayName(visitor.person)

const signInFormOf = ({ request, token }: PageRequest): SignInForm => ({
  token,
  next: safeNextPath(queryOf(request).get('next')),
})

type RenderForm = (entry: SignInForm, pageRequest: PageRequest) => Page

const renderSignIn: RenderForm = (entry, pageRequest) =>
  signInPage({ ...entry, otherMethods: signInMethods(pageRequest, entry.next) })
const renderSignUp: RenderForm = (entry, pageRequest) =>
  signUpPage({ ...entry, otherMethods: signUpMethods(pageRequest, entry.next) })
const renderRecover: RenderForm = (entry) => recoverPage(entry)

/** A page of sign-in; who is signed in already goes on, but to sign in again. */
async function showForm(input: PageInput, draw: RenderForm): Promise<Response> {
  const pageRequest = await getPageRequest(input)
  const entry = signInFormOf(pageRequest)
  const isAgain = queryOf(pageRequest.request).has('again')
  if (pageRequest.visitor && !isAgain) return redirectTo(entry.next)
  return privatePage(
    pageRequest,
    pageRequest.ctx.config.personHeader ? proxyPage : draw(entry, pageRequest),
  )
}

/** What such a page sent; refused, it is shown again, with all that is no password. */
async function submitForm(
  input: PageInput,
  draw: RenderForm,
  work: (pageRequest: PageRequest, form: SubmittedForm) => Promise<Response>,
): Promise<Response> {
  const pageRequest = await getPageRequest(input)
  if (pageRequest.ctx.config.personHeader)
    return privatePage(pageRequest, { ...proxyPage, status: 403 })
  const again = (_: PageRequest, message: string, form: SubmittedForm): Page => {
    const [next, name, code] = [
      safeNextPath(form.text('next')),
      form.text('name'),
      form.text('code'),
    ]
    return draw({ token: pageRequest.token, next, name, code, message }, pageRequest)
  }
  const instead = (form: SubmittedForm): string | undefined =>
    signedInDestination(pageRequest, draw, form)
  return handleForm(pageRequest, work, again, { instead })
}

/** Where who has signed in meanwhile goes on who sends a form once more, or in a second tab. */
function signedInDestination(
  { visitor }: PageRequest,
  draw: RenderForm,
  form: SubmittedForm,
): string | undefined {
  if (!visitor) return undefined
  if (draw === renderSignUp) return codesShownPath
  const isSame = normalizeName(form.text('name')) === visitor.person.name
  return isSame && draw === renderSignIn ? safeNextPath(form.text('next')) : undefined
}

/** A new account, and its recovery codes before anything else. */
async function createAccount(
  pageRequest: PageRequest,
  form: SubmittedForm,
  code: string | undefined,
  next: string,
): Promise<Response> {
  pageRequest.ctx.storage.requireFreeSpace(0)
  const joining = { name: form.text('name'), password: form.text('password'), code }
  const { secret, codes } = await signUp(pageRequest.ctx, joining, clientOf(pageRequest))
  return privatePage(
    pageRequest,
    recoveryCodesPage(codes, next),
    sessionCookie(pageRequest, secret),
  )
}
