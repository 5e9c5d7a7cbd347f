import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { toCredits } from '../../core/money.ts'
import { ApiError } from '../../errors.ts'
import { closeAccount } from '../../hosting/people/account-closing.ts'
import * as identities from '../../hosting/people/identities.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import * as passkeys from '../../hosting/people/passkeys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import * as sessions from '../../hosting/people/sessions.ts'
import { changePassword, renewRecoveryCodes } from '../../hosting/people/sign-in.ts'
import * as ledger from '../../ledger/ledger.ts'
import { queryOf } from '../components.ts'
import type { SubmittedForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createAndShowKey } from '../new-key.ts'
import {
  clearedSessionCookie,
  clientOf,
  privatePage,
  redirectTo,
  sessionCookie,
  signedInForm,
  signedInPage,
  type SignedInRequest,
} from '../session.ts'
import { accountSignInMethods } from '../sign-in/methods.ts'
import { accountDeletedPage, codesShownPath, recoveryCodesPage } from '../sign-in/pages.ts'
import { accountPage } from './account.ts'

/** A person's account. */
export const accountRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/account', ({ request }) => signedInPage({ ctx, layout, request }, getAccountPage))
    .post(
      '/account/:act',
      ({ request, params: { act } }) =>
        signedInForm(
          { ctx, layout, request },
          (signedIn, form) => runAction(signedIn, act, form),
          getAccountPage,
          {
            instead: () => (act === 'codes' ? codesShownPath : undefined),
          },
        ),
      { parse: 'none' },
    )
    .post(
      '/sign-out',
      ({ request }) => signedInForm({ ctx, layout, request }, signOut, getAccountPage),
      {
        parse: 'none',
      },
    )

async function signOut(signedIn: SignedInRequest): Promise<Response> {
  const { person, session } = signedIn.visitor
  if (session) await sessions.end(signedIn.ctx, person, session.id)
  return redirectTo('/', clearedSessionCookie(signedIn))
}

/** The account page, with what went wrong there. */
export async function getAccountPage(signedIn: SignedInRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor } = signedIn
  const { person, session } = visitor
  const [all, keys, ways, account] = await Promise.all([
    session ? sessions.list(ctx, person) : [],
    ownKeys.list(ctx, person, 'person'),
    accountSignInMethods(signedIn),
    ledger.balanceOf(ctx, walletOf(person)),
  ])
  const wallet = toCredits(account.balance)
  const known = { token, person, sessions: all, current: session?.id, keys, ways, wallet }
  const done = queryOf(signedIn.request).get('done')
  return accountPage({ ...known, message, done })
}

/** What the forms of the account ask, by the names that they are sent to. */
const actions: Record<
  string,
  (signedIn: SignedInRequest, form: SubmittedForm) => Promise<Response>
> = {
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
  async password(signedIn, form) {
    const message = { password: form.text('password'), wanted: form.text('wanted') }
    const secret = await changePassword(
      signedIn.ctx,
      signedIn.visitor.person,
      message,
      clientOf(signedIn),
    )
    return redirectTo('/account?done=password', secret && sessionCookie(signedIn, secret))
  },
  async codes(signedIn, form) {
    const { ctx, visitor } = signedIn
    const password = form.text('password')
    const { secret, codes } = await renewRecoveryCodes(
      ctx,
      visitor.person,
      password,
      clientOf(signedIn),
    )
    return privatePage(
      signedIn,
      recoveryCodesPage(codes, '/account'),
      secret && sessionCookie(signedIn, secret),
    )
  },
  async leave(signedIn, form) {
    await closeAccount(
      signedIn.ctx,
      signedIn.visitor.person,
      form.text('password'),
      clientOf(signedIn),
    )
    return privatePage(signedIn, accountDeletedPage, clearedSessionCookie(signedIn))
  },
}

/** Who is signed in by a proxy has keys here, and nothing else. */
function runAction(signedIn: SignedInRequest, act: string, form: SubmittedForm): Promise<Response> {
  const work = Object.hasOwn(actions, act) ? actions[act] : undefined
  if (work && (act === 'keys' || signedIn.visitor.session)) return work(signedIn, form)
  throw new ApiError('not_found', { what: 'address' })
}

/** Adds a passkey, or removes the one that is named. */
async function changePasskeys(signedIn: SignedInRequest, form: SubmittedForm): Promise<Response> {
  const { ctx, token, visitor } = signedIn
  const id = form.text('remove')
  if (id) await passkeys.remove(ctx, visitor.person, id)
  else {
    const message = { name: form.text('name'), answer: form.text('answer') }
    await passkeys.addPasskey(ctx, visitor.person, message, {
      holder: token,
      from: clientOf(signedIn),
    })
  }
  return redirectTo('/account')
}

/** Makes a personal key, or revokes the one that is named. */
async function changeKeys(signedIn: SignedInRequest, form: SubmittedForm): Promise<Response> {
  const { ctx, visitor } = signedIn
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(ctx, visitor.person, 'person', prefix)
    return redirectTo('/account')
  }
  return createAndShowKey(signedIn, form, {
    make: () => ownKeys.create(ctx, visitor.person, 'person', form.text('name')),
    what: 'With it a script does what you do here.',
    back: '/account',
  })
}
