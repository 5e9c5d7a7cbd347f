import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Person } from '../../hosting/people/people.ts'
import type { Session } from '../../hosting/people/sessions.ts'
import type { Key } from '../../keys/keys.ts'
import { inCredits } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { dayOf } from '../parts.ts'
import { table } from '../table.ts'
import { ask, askRevoke } from './ask.ts'
import { alert, field, form, hidden, notice } from './form.ts'
import { keyRef } from './new-key.ts'

/** What the account page is drawn from. */
export interface Account {
  token: string
  person: Person
  /** Sessions, newest first; none where a proxy signs people in. */
  sessions: Session[]
  /** The id of the session that asks. */
  current: string | undefined
  keys: Key[]
  /** How they sign in beside a password. */
  ways: Part
  /** What is in their wallet, in credits. */
  wallet: number
  said?: string | undefined
  /** What a form has done. */
  done?: string | null
}

/** What browsers call themselves, those first that name another one as well. */
const names = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari\//],
] as const

const agent = (browser: string): string => {
  const [name] = names.flatMap(([own, pattern]) => {
    const version = pattern.exec(browser)?.[1]
    return version === undefined ? [] : [`${own} ${version}`]
  })
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(browser)?.[0]
  return [name, system].filter(Boolean).join(', ')
}

const sessionRow = (token: string, current: string | undefined, session: Session): Part[] => {
  const { id, browser, seen, created } = session
  const act =
    id === current
      ? html`<span class="small">This browser</span>`
      : form(
          token,
          '/account/sessions',
          html`${hidden('id', id)}<button class="button quiet slim">Sign out</button>`,
          'act',
        )
  return [agent(browser) || 'A program', dayOf(iso(created)), dayOf(iso(seen)), act]
}

/** Keys as a table, each with a way to revoke it. */
export function keyTable(
  token: string,
  action: string,
  keys: Pick<Key, 'prefix' | 'name' | 'created'>[],
): Part {
  const row = ({ prefix, name, created }: Pick<Key, 'prefix' | 'name' | 'created'>): Part[] => [
    name ? html`<bdi>${name}</bdi>` : html`<span class="small">no name</span>`,
    html`<code>${prefix}…</code>`,
    dayOf(iso(created)),
    form(token, action, askRevoke(prefix), 'act'),
  ]
  return (
    keys.length > 0 &&
    table('Keys', [{ long: 'Name' }, 'Key', 'Made', { unseen: 'Revoke' }], keys.map(row))
  )
}

/** The form that makes a key. */
export const keyForm = (token: string, action: string, value?: string): Html => {
  const name = field({ label: 'Name of a new key', name: 'name', max: 80, free: true, value })
  return form(
    token,
    action,
    html`${keyRef()}${name}<button class="button quiet">Make a key</button>`,
    'form line',
  )
}

const password = (label: string, name: string, autocomplete: string): Html =>
  field({ label, name, type: 'password', autocomplete })

/** The sections of who is signed in here, and not by a proxy. */
function security(account: Account): Part {
  const { token, person, sessions, current, ways } = account
  const isKnown = person.password !== null
  const now = (label: string): Part => isKnown && password(label, 'password', 'current-password')
  const change = html`${now('Password now')}${password('New password', 'wanted', 'new-password')}<button
      class="button quiet"
    >
      ${isKnown ? 'Change it' : 'Set it'}
    </button>`
  const codes = html`${now('Password')}<button class="button quiet">Make new codes</button>`
  return html`<section>
      <h2>Signed in at</h2>
      ${table(
        'Sessions',
        ['Browser', 'Since', 'Last seen', { unseen: 'Sign out' }],
        sessions.map((session) => sessionRow(token, current, session)),
      )}
    </section>
    ${ways}
    <div class="columns">
      <section>
        <h2>Password</h2>
        <p class="small">
          ${isKnown ? '' : 'You have none. '}A new one signs you out everywhere else.
        </p>
        ${form(token, '/account/password', change)}
      </section>
      <section>
        <h2>Recovery codes</h2>
        <p class="small">
          This place sends no e-mail: a code is the way back. New ones end the old.
        </p>
        ${form(token, '/account/codes', codes)}
      </section>
    </div>
    ${!person.operator && leaving(account)}`
}

function leaving({ token, person, wallet }: Account): Html {
  const fields = ask({
    word: 'Delete',
    question: html`Delete the account <bdi>${person.name}</bdi>?`,
    ends: 'It cannot be brought back.',
    fields: person.password !== null && password('Password', 'password', 'current-password'),
  })
  return html`<section>
    <h2>Delete the account</h2>
    <p>
      Your sign-ins, keys and codes end at once. Your agents are let go: they keep their credits and
      apps.
      ${wallet > 0 && html`Your wallet has <strong>${inCredits(wallet)} credits</strong>, which nobody can spend then: send them to an agent first.`}
    </p>
    ${form(token, '/account/leave', fields)}
  </section>`
}

/** What a form has done. */
const doneWords = new Map([
  ['password', 'The password is set.'],
  ['codes', 'Recovery codes are shown once. If you did not keep them, make new ones.'],
])

export function accountPage(account: Account): Page {
  const { token, person, keys, said, done, current } = account
  const out = form(token, '/sign-out', html`<button class="button quiet">Sign out</button>`, 'act')
  const main = html`<div class="head title">
      <h1>${person.name}</h1>
      ${current !== undefined && out}
    </div>
    <p class="lead">
      ${person.operator ? html`You are the operator of this place: <a href="/console">console</a>.` : 'Your account.'}
      <a href="/agents">Agents</a> · <a href="/wallet">Wallet</a>
    </p>
    ${alert(said)} ${notice(doneWords.get(done ?? ''))}
    <section>
      <h2>Personal keys</h2>
      <p class="small">
        For scripts: with one they do what you do here, under <code>/people/me</code> of the API. It
        is no agent’s key and pays for nothing.
      </p>
      ${keyTable(token, '/account/keys', keys)}${keyForm(token, '/account/keys')}
    </section>
    ${current !== undefined && security(account)}`
  return { title: 'Account', main, scripts: ['passkeys.js'] }
}
