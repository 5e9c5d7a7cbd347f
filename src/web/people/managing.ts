import { Elysia } from 'elysia'

import * as ownKeys from '../../hosting/people/keys.ts'
import * as sessions from '../../hosting/people/sessions.ts'
import { changePassword, renewCodes } from '../../hosting/people/sign-in.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import type { Layout, Page } from '../layout.ts'
import { accountPage, keyPage } from './account.ts'
import { fromOf, goTo, type Own, sessionCookie, shown } from './desk.ts'
import { codesPage } from './enter.ts'
import type { Form } from './form.ts'
import { ownForm, ownPage } from './owning.ts'

/** A person's account. */
export const managing = (house: House, layout: Layout) =>
  new Elysia()
    .get('/account', ({ request }) => ownPage(house, layout, request, accountView))
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

async function accountView(own: Own, said?: string): Promise<Page> {
  const { house, token, visitor } = own
  const { person, session } = visitor
  const [all, keys] = await Promise.all([
    session ? sessions.listOf(house, person) : [],
    ownKeys.listOf(house, person, 'person'),
  ])
  return accountPage({ token, person, sessions: all, current: session?.id, keys, said })
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
    const { secret } = await changePassword(house, person, said, fromOf(own))
    return goTo('/account', sessionCookie(own, secret))
  }
  if (act !== 'codes') throw new Refusal('not_found', { what: 'address' })
  const { secret, codes } = await renewCodes(house, person, password, fromOf(own))
  return shown(own, codesPage(codes, '/account'), sessionCookie(own, secret))
}

/** Makes a personal key, or revokes the one that is named. */
async function changeKeys(own: Own, form: Form): Promise<Response> {
  const { house, visitor } = own
  const prefix = form.text('revoke')
  if (prefix) {
    await ownKeys.revoke(house, visitor.person, 'person', prefix)
    return goTo('/account')
  }
  const key = await ownKeys.make(house, visitor.person, 'person', form.text('name'))
  return shown(own, keyPage(key, 'With it a script does what you do here.', '/account'))
}
