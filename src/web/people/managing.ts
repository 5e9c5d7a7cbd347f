import { Elysia } from 'elysia'

import { toCredits } from '../../core/money.ts'
import * as identities from '../../hosting/people/identities.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { leave } from '../../hosting/people/leaving.ts'
import * as passkeys from '../../hosting/people/passkeys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import * as sessions from '../../hosting/people/sessions.ts'
import { changePassword, renewCodes } from '../../hosting/people/sign-in.ts'
import type { House } from '../../house.ts'
import * as ledger from '../../ledger/ledger.ts'
import { Refusal } from '../../refusals.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import { accountPage } from './account.ts'
import { fromOf, goTo, noCookie, type Own, ownForm, ownPage, sessionCookie, shown } from './desk.ts'
import { codesPage, codesShown } from './enter.ts'
import type { Form } from './form.ts'
import { newKey } from './new-key.ts'
import { waysOf } from './ways.ts'

/** A person's account. */
export const managing = (house: House, layout: Layout) =>
  new Elysia()
    .get('/account', ({ request }) => ownPage({ house, layout, request }, accountView))
    .post(
      '/account/:act',
      ({ request, params: { act } }) =>
        ownForm({ house, layout, request }, (own, form) => run(own, act, form), accountView, {
          instead: () => (act === 'codes' ? codesShown : undefined),
        }),
      { parse: 'none' },
    )
    .post('/sign-out', ({ request }) => ownForm({ house, layout, request }, signOut, accountView), {
      parse: 'none',
    })

async function signOut(own: Own): Promise<Response> {
  const { person, session } = own.visitor
  if (session) await sessions.end(own.house, person, session.id)
  return goTo('/', noCookie(own))
}

/** The account page, with what went wrong there. */
export async function accountView(own: Own, said?: string): Promise<Page> {
  const { house, token, visitor } = own
  const { person, session } = visitor
  const [all, keys, ways, account] = await Promise.all([
    session ? sessions.listOf(house, person) : [],
    ownKeys.listOf(house, person, 'person'),
    waysOf(own),
    ledger.balanceOf(house, walletOf(person)),
  ])
  const wallet = toCredits(account.balance)
  const known = { token, person, sessions: all, current: session?.id, keys, ways, wallet }
  const done = queryOf(own.request).get('done')
  return accountPage({ ...known, said, done })
}

async function run(own: Own, act: string, form: Form): Promise<Response> {
  const { house, visitor } = own
  const { person } = visitor
  const password = form.text('password')
  if (act === 'keys') return changeKeys(own, form)
  if (!visitor.session) throw new Refusal('not_found', { what: 'address' })
  if (act === 'sessions') {
    await sessions.end(house, person, form.text('id'))
    return goTo('/account')
  }
  if (act === 'password') {
    const said = { password, wanted: form.text('wanted') }
    const secret = await changePassword(house, person, said, fromOf(own))
    return goTo('/account?done=password', secret && sessionCookie(own, secret))
  }
  if (act === 'leave') {
    await leave(house, person, password, fromOf(own))
    return goTo('/', noCookie(own))
  }
  if (act === 'passkeys') return changePasskeys(own, form)
  if (act === 'identities') {
    await identities.unlink(house, person, form.text('remove'))
    return goTo('/account')
  }
  if (act !== 'codes') throw new Refusal('not_found', { what: 'address' })
  const { secret, codes } = await renewCodes(house, person, password, fromOf(own))
  return shown(own, codesPage(codes, '/account'), secret && sessionCookie(own, secret))
}

/** Adds a passkey, or removes the one that is named. */
async function changePasskeys(own: Own, form: Form): Promise<Response> {
  const { house, token, visitor } = own
  const id = form.text('remove')
  if (id) await passkeys.remove(house, visitor.person, id)
  else {
    const said = { name: form.text('name'), answer: form.text('answer') }
    await passkeys.add(house, visitor.person, said, { holder: token, from: fromOf(own) })
  }
  return goTo('/account')
}

/** Makes a personal key, or revokes the one that is named. */
async function changeKeys(own: Own, form: Form): Promise<Response> {
  const { house, visitor } = own
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(house, visitor.person, 'person', prefix)
    return goTo('/account')
  }
  return newKey(own, form, {
    make: () => ownKeys.make(house, visitor.person, 'person', form.text('name')),
    what: 'With it a script does what you do here.',
    back: '/account',
  })
}
