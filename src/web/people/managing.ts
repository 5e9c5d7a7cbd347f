import { Elysia } from 'elysia'

import * as ownKeys from '../../hosting/people/keys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import * as sessions from '../../hosting/people/sessions.ts'
import { changePassword, renewCodes } from '../../hosting/people/sign-in.ts'
import type { House } from '../../house.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { spentByDay } from '../../ledger/spending.ts'
import { Refusal } from '../../refusals.ts'
import type { Layout, Page } from '../layout.ts'
import { accountPage, keyPage } from './account.ts'
import { fromOf, goTo, type Own, sessionCookie, shown, visitFor } from './desk.ts'
import { codesPage } from './enter.ts'
import type { Form } from './form.ts'
import { daysShown, ownForm, ownOf, toSignIn } from './owning.ts'
import { walletPage } from './wallet.ts'

const entriesShown = 30

/** A person's account, and the wallet. */
export const managing = (house: House, layout: Layout) =>
  new Elysia()
    .get('/account', ({ request }) => page(house, layout, request, accountView))
    .get('/wallet', ({ request }) => page(house, layout, request, walletView))
    .post(
      '/account/:act',
      ({ request, params: { act } }) =>
        ownForm(
          ...([house, layout, request] as const),
          (own, form) => run(own, act, form),
          accountView,
        ),
      { parse: 'none' },
    )
    .post(
      '/wallet/keys',
      ({ request }) =>
        ownForm(
          ...([house, layout, request] as const),
          (own, form) => changeKeys(own, form, 'gateway', '/wallet'),
          walletView,
        ),
      { parse: 'none' },
    )

async function page(
  house: House,
  layout: Layout,
  request: Request,
  view: (own: Own) => Promise<Page>,
): Promise<Response> {
  const visit = await visitFor(house, layout, request)
  const own = ownOf(visit)
  return own ? shown(own, await view(own)) : toSignIn(visit)
}

async function accountView(own: Own, said?: string): Promise<Page> {
  const { house, token, visitor } = own
  const { person, session } = visitor
  const [all, keys] = await Promise.all([
    session ? sessions.listOf(house, person) : [],
    ownKeys.listOf(house, person, 'person'),
  ])
  return accountPage({ token, person, sessions: all, current: session?.id, keys, said })
}

async function walletView(own: Own, said?: string): Promise<Page> {
  const { house, token, visitor } = own
  const { person } = visitor
  const keys = await ownKeys.listOf(house, person, 'gateway')
  const counters = keys.map(({ prefix }) => prefix)
  const [account, spent, entries] = await Promise.all([
    ledger.balanceOf(house, walletOf(person)),
    spentByDay(house, counters, daysShown),
    listEntries(house, walletOf(person), { limit: entriesShown }),
  ])
  const { wallet, name } = person
  const { gateway } = house.urls
  return walletPage({ token, wallet, gateway, name, account, spent, entries, keys, said })
}

async function run(own: Own, act: string, form: Form): Promise<Response> {
  const { house, visitor } = own
  const { person } = visitor
  const password = form.text('password')
  if (act === 'keys') return changeKeys(own, form, 'person', '/account')
  if (!visitor.session) throw new Refusal('not_found', { what: 'address' })
  if (act === 'sessions') {
    await sessions.end(house, person, form.text('id'))
    return goTo('/account')
  }
  if (act === 'password') {
    const said = { password, wanted: form.text('wanted') }
    const { secret } = await changePassword(house, person, said, fromOf(own))
    return goTo('/account', sessionCookie(own, secret))
  }
  if (act !== 'codes') throw new Refusal('not_found', { what: 'address' })
  const { secret, codes } = await renewCodes(house, person, password, fromOf(own))
  return shown(own, codesPage(codes, '/account'), sessionCookie(own, secret))
}

/** Makes a key of a person's own, or revokes the one that is named. */
async function changeKeys(
  own: Own,
  form: Form,
  kind: ownKeys.OwnKind,
  back: string,
): Promise<Response> {
  const { house, visitor } = own
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(house, visitor.person, kind, prefix)
    return goTo(back)
  }
  const key = await ownKeys.make(house, visitor.person, kind, form.text('name'))
  const what =
    kind === 'person'
      ? 'With it a script does what you do here.'
      : 'Whoever holds it can spend from your wallet at the gateway.'
  return shown(own, keyPage(key, what, back))
}
