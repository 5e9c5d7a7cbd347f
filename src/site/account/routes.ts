import { closeAccount } from '../../apps/owners/account-closing.ts'
import { ApiError } from '../../kernel/errors.ts'
import { toCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import * as identities from '../../people/identities.ts'
import * as ownKeys from '../../people/keys.ts'
import * as passkeys from '../../people/passkeys.ts'
import { walletOf } from '../../people/people.ts'
import * as sessions from '../../people/sessions.ts'
import { changePassword, renewRecoveryCodes } from '../../people/sign-in.ts'
import type { AppContext } from '../../server/context.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createAndShowKey } from '../new-key.ts'
import {
  clearedSessionCookie,
  clientOf,
  pageRoutes,
  privatePage,
  redirectTo,
  sessionCookie,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { accountSignInMethods } from '../sign-in/methods.ts'
import { accountDeletedPage, codesShownPath, recoveryCodesPage } from '../sign-in/pages.ts'
import { accountPage } from './account.ts'

export const accountRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/account', ({ input }) => userPage(input, getAccountPage))
    .get('/account/:act', ({ params: { act } }) => {
      requireAction(act)
      return redirectTo('/account')
    })
    .get('/sign-out', () => redirectTo('/account'))
    .post('/account/:act', ({ input, params: { act } }) => {
      const staleRedirect = () => (act === 'codes' ? codesShownPath : undefined)
      const work = (req: UserRequest, form: Form) => runAction(req, act, form)
      return userForm(input, work, getAccountPage, { staleRedirect })
    })
    .post('/sign-out', ({ input }) => userForm(input, signOut, getAccountPage))

async function signOut(req: UserRequest): Promise<Response> {
  const { person, session } = req.visitor
  if (session) await sessions.end(req.ctx, person, session.id)
  return redirectTo('/', clearedSessionCookie(req))
}

export async function getAccountPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor } = req
  const { person, session } = visitor
  const [active, keys, signInMethods, account] = await Promise.all([
    session ? sessions.list(ctx, person) : [],
    ownKeys.list(ctx, person, 'person'),
    accountSignInMethods(req),
    ledger.balanceOf(ctx, walletOf(person)),
  ])
  const wallet = toCredits(account.balance)
  const user = {
    token,
    person,
    sessions: active,
    current: session?.id,
    keys,
    signInMethods,
    wallet,
  }
  const done = req.query.get('done')
  return accountPage({ ...user, message, done })
}

/** The forms of the account page by the last segment of their path. */
const actions: Record<string, (req: UserRequest, form: Form) => Promise<Response>> = {
  keys: changeKeys,
  passkeys: changePasskeys,
  async sessions({ ctx, visitor }, form) {
    await sessions.end(ctx, visitor.person, form.text('id'))
    return redirectTo('/account')
  },
  async identities({ ctx, visitor }, form) {
    await identities.unlink(ctx, visitor.person, form.text('remove'))
    return redirectTo('/account')
  },
  async password(req, form) {
    const passwords = { password: form.text('password'), newPassword: form.text('wanted') }
    const secret = await changePassword(req.ctx, req.visitor.person, passwords, clientOf(req))
    return redirectTo('/account?done=password', secret && sessionCookie(req, secret))
  },
  async codes(req, form) {
    const { ctx, visitor } = req
    const password = form.text('password')
    const { secret, codes } = await renewRecoveryCodes(ctx, visitor.person, password, clientOf(req))
    return privatePage(
      req,
      recoveryCodesPage(codes, '/account'),
      secret && sessionCookie(req, secret),
    )
  },
  async leave(req, form) {
    await closeAccount(req.ctx, req.visitor.person, form.text('password'), clientOf(req))
    return privatePage(req, accountDeletedPage, clearedSessionCookie(req))
  },
}

/** Throws `not_found`. */
function requireAction(act: string) {
  const work = lookUp(actions, act)
  if (work) return work
  throw new ApiError('not_found', { what: 'page' })
}

/** People whom a proxy signs in manage only their keys here. */
function runAction(req: UserRequest, act: string, form: Form): Promise<Response> {
  const work = requireAction(act)
  if (act === 'keys' || req.visitor.session) return work(req, form)
  throw new ApiError('not_found', { what: 'page' })
}

async function changePasskeys(req: UserRequest, form: Form): Promise<Response> {
  const { ctx, token, visitor } = req
  const id = form.text('remove')
  if (id) await passkeys.remove(ctx, visitor.person, id)
  else {
    const passkey = { name: form.text('name'), answer: form.text('answer') }
    await passkeys.addPasskey(ctx, visitor.person, passkey, {
      holder: token,
      from: clientOf(req),
    })
  }
  return redirectTo('/account')
}

async function changeKeys(req: UserRequest, form: Form): Promise<Response> {
  const { ctx, visitor } = req
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(ctx, visitor.person, 'person', prefix)
    return redirectTo('/account')
  }
  return createAndShowKey(req, form, {
    create: () => ownKeys.create(ctx, visitor.person, 'person', form.text('name')),
    purpose: 'Scripts use it to act on your behalf.',
    back: '/account',
  })
}
