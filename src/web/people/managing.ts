import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { toCredits } from '../../core/money.ts'
import { ApiError } from '../../errors.ts'
import * as identities from '../../hosting/people/identities.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { leave } from '../../hosting/people/leaving.ts'
import * as passkeys from '../../hosting/people/passkeys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import * as sessions from '../../hosting/people/sessions.ts'
import { changePassword, renewCodes } from '../../hosting/people/sign-in.ts'
import * as ledger from '../../ledger/ledger.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import { accountPage } from './account.ts'
import { fromOf, goTo, noCookie, type Own, ownForm, ownPage, sessionCookie, shown } from './desk.ts'
import { codesPage, codesShown, leftPage } from './enter.ts'
import type { Form } from './form.ts'
import { newKey } from './new-key.ts'
import { waysOf } from './ways.ts'

/** A person's account. */
export const managing = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/account', ({ request }) => ownPage({ ctx, layout, request }, accountView))
    .post(
      '/account/:act',
      ({ request, params: { act } }) =>
        ownForm({ ctx, layout, request }, (own, form) => run(own, act, form), accountView, {
          instead: () => (act === 'codes' ? codesShown : undefined),
        }),
      { parse: 'none' },
    )
    .post('/sign-out', ({ request }) => ownForm({ ctx, layout, request }, signOut, accountView), {
      parse: 'none',
    })

async function signOut(own: Own): Promise<Response> {
  const { person, session } = own.visitor
  if (session) await sessions.end(own.ctx, person, session.id)
  return goTo('/', noCookie(own))
}

/** The account page, with what went wrong there. */
export async function accountView(own: Own, said?: string): Promise<Page> {
  const { ctx, token, visitor } = own
  const { person, session } = visitor
  const [all, keys, ways, account] = await Promise.all([
    session ? sessions.listOf(ctx, person) : [],
    ownKeys.listOf(ctx, person, 'person'),
    waysOf(own),
    ledger.balanceOf(ctx, walletOf(person)),
  ])
  const wallet = toCredits(account.balance)
  const known = { token, person, sessions: all, current: session?.id, keys, ways, wallet }
  const done = queryOf(own.request).get('done')
  return accountPage({ ...known, said, done })
}

/** What the forms of the account ask, by the names that they are sent to. */
const acts: Record<string, (own: Own, form: Form) => Promise<Response>> = {
  keys: changeKeys,
  passkeys: changePasskeys,
  async sessions({ ctx, visitor }, form) {
    await sessions.end(ctx, visitor.person, form.text('id'))
    return goTo('/account')
  },
  async identities({ ctx, visitor }, form) {
    await identities.unlink(ctx, visitor.person, form.text('remove'))
    return goTo('/account')
  },
  async password(own, form) {
    const said = { password: form.text('password'), wanted: form.text('wanted') }
    const secret = await changePassword(own.ctx, own.visitor.person, said, fromOf(own))
    return goTo('/account?done=password', secret && sessionCookie(own, secret))
  },
  async codes(own, form) {
    const { ctx, visitor } = own
    const password = form.text('password')
    const { secret, codes } = await renewCodes(ctx, visitor.person, password, fromOf(own))
    return shown(own, codesPage(codes, '/account'), secret && sessionCookie(own, secret))
  },
  async leave(own, form) {
    await leave(own.ctx, own.visitor.person, form.text('password'), fromOf(own))
    return shown(own, leftPage, noCookie(own))
  },
}

/** Who is signed in by a proxy has keys here, and nothing else. */
function run(own: Own, act: string, form: Form): Promise<Response> {
  const work = Object.hasOwn(acts, act) ? acts[act] : undefined
  if (work && (act === 'keys' || own.visitor.session)) return work(own, form)
  throw new ApiError('not_found', { what: 'address' })
}

/** Adds a passkey, or removes the one that is named. */
async function changePasskeys(own: Own, form: Form): Promise<Response> {
  const { ctx, token, visitor } = own
  const id = form.text('remove')
  if (id) await passkeys.remove(ctx, visitor.person, id)
  else {
    const said = { name: form.text('name'), answer: form.text('answer') }
    await passkeys.add(ctx, visitor.person, said, { holder: token, from: fromOf(own) })
  }
  return goTo('/account')
}

/** Makes a personal key, or revokes the one that is named. */
async function changeKeys(own: Own, form: Form): Promise<Response> {
  const { ctx, visitor } = own
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(ctx, visitor.person, 'person', prefix)
    return goTo('/account')
  }
  return newKey(own, form, {
    make: () => ownKeys.make(ctx, visitor.person, 'person', form.text('name')),
    what: 'With it a script does what you do here.',
    back: '/account',
  })
}
