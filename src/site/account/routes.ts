import { closeAccount } from '../../apps/owners/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { toCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import * as ownKeys from '../../people/keys.ts'
import * as account from '../../people/operations.ts'
import { walletOf } from '../../people/people.ts'
import * as sessions from '../../people/sessions.ts'
import { form } from '../form.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { keyPage, refOf } from '../new-key.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from '../session.ts'
import { accountSignInMethods } from '../sign-in/methods.ts'
import { accountDeletedPage, codesShownPath, recoveryCodesPage } from '../sign-in/pages.ts'
import { accountPage } from './account.ts'

export const accountRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/account', ({ input }) => userPage(input, getAccountPage))
    .get('/account/:act', ({ params: { act } }) => {
      requireForm(act)
      return redirectTo('/account')
    })
    .get('/sign-out', () => redirectTo('/account'))
    .post('/account/:act', ({ input, params: { act } }) => {
      const staleRedirect = () => (act === 'codes' ? codesShownPath : undefined)
      return userForm(input, requireForm(act), getAccountPage, { staleRedirect })
    })
    .post('/sign-out', ({ input }) =>
      userForm(input, form(account.signOut, { then: '/' }), getAccountPage),
    )

export async function getAccountPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor } = req
  const { person, session } = visitor
  const [active, keys, signInMethods, { balance }] = await Promise.all([
    session ? sessions.list(ctx, person) : [],
    ownKeys.list(ctx, person, 'person'),
    accountSignInMethods(req),
    ledger.balanceOf(ctx, walletOf(person)),
  ])
  const wallet = toCredits(balance)
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

const toAccount = { then: '/account' }

/** The forms of the account page by the last segment of their path. */
const forms: Record<string, (req: UserRequest, sent: Form) => Promise<Response>> = {
  keys: (req, sent) => (sent.text('revoke') ? revokeKey : createKey)(req, sent),
  passkeys: (req, sent) => (sent.text('remove') ? removePasskeyForm : addPasskeyForm)(req, sent),
  sessions: form(account.endSession, { params: idIn('id'), ...toAccount }),
  identities: form(account.unlinkIdentity, { params: idIn('remove'), ...toAccount }),
  password: form(account.changePassword, {
    fields: (sent) => ({ password: sent.text('password'), newPassword: sent.text('wanted') }),
    then: '/account?done=password',
  }),
  codes: form(account.renewCodes, {
    then: ({ recoveryCodes }) => recoveryCodesPage(recoveryCodes, '/account'),
  }),
  leave: form(closeAccount, { then: accountDeletedPage }),
}

function idIn(name: string) {
  return (sent: Form) => ({ id: sent.text(name) })
}

const revokeKey = form(account.revokePersonalKey, {
  params: (sent) => ({ prefix: sent.text('revoke') }),
  ...toAccount,
})
const createKey = form(account.addPersonalKey, {
  fields(sent) {
    const name = sent.text('name').trim()
    return name ? { name } : {}
  },
  ref: refOf,
  then: ({ key }) =>
    keyPage(key, { purpose: 'Scripts use it to act on your behalf.', back: '/account' }),
})
const removePasskeyForm = form(account.removePasskey, { params: idIn('remove'), ...toAccount })
const addPasskeyForm = form(account.addPasskey, toAccount)

/** Throws `not_found`. */
function requireForm(act: string) {
  const found = lookUp(forms, act)
  if (found) return found
  throw new ApiError('not_found', { what: 'page' })
}
