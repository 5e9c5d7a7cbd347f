import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Person } from '../../hosting/people/people.ts'
import type { Session } from '../../hosting/people/sessions.ts'
import type { Key } from '../../keys/keys.ts'
import { renderDate } from '../components.ts'
import { confirmDialog, revokeDialog } from '../confirm-dialog.ts'
import { dataTable } from '../data-table.ts'
import { formatCredits } from '../format.ts'
import { alert, form, hiddenField, inputField, notice } from '../forms.ts'
import type { Page } from '../layout.ts'
import { keyRefField } from '../new-key.ts'

/** What the account page is drawn from. */
export interface AccountView {
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
  message?: string | undefined
  /** What a form has done. */
  done?: string | null
}

/** What browsers call themselves, those first that name another one as well. */
const browsers = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari\//],
] as const

const browserName = (browser: string): string => {
  const [name] = browsers.flatMap(([signedIn, pattern]) => {
    const version = pattern.exec(browser)?.[1]
    return version === undefined ? [] : [`${signedIn} ${version}`]
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
          html`${hiddenField('id', id)}<button class="button quiet slim">Sign out</button>`,
          'act',
        )
  return [browserName(browser) || 'A program', renderDate(iso(created)), renderDate(iso(seen)), act]
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
    renderDate(iso(created)),
    form(token, action, revokeDialog(prefix), 'act'),
  ]
  return (
    keys.length > 0 &&
    dataTable('Keys', [{ long: 'Name' }, 'Key', 'Made', { unseen: 'Revoke' }], keys.map(row))
  )
}

/** The form that makes a key. */
export const keyForm = (token: string, action: string, value?: string): Html => {
  const name = inputField({
    label: 'Name of a new key',
    name: 'name',
    max: 80,
    isOptional: true,
    value,
  })
  return form(
    token,
    action,
    html`${keyRefField()}${name}<button class="button quiet">Make a key</button>`,
    'form line',
  )
}

const passwordField = (label: string, name: string, autocomplete: string): Html =>
  inputField({ label, name, type: 'password', autocomplete })

/** The sections of who is signed in here, and not by a proxy. */
function securitySections(account: AccountView): Part {
  const { token, person, sessions, current, ways } = account
  const isKnown = person.password !== null
  const now = (label: string): Part =>
    isKnown && passwordField(label, 'password', 'current-password')
  const change = html`${now('Password now')}${passwordField('New password', 'wanted', 'new-password')}<button
      class="button quiet"
    >
      ${isKnown ? 'Change it' : 'Set it'}
    </button>`
  const codes = html`${now('Password')}<button class="button quiet">Make new codes</button>`
  return html`<section>
      <h2>Signed in at</h2>
      ${dataTable(
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
    ${!person.operator && deleteSection(account)}`
}

function deleteSection({ token, person, wallet }: AccountView): Html {
  const fields = confirmDialog({
    label: 'Delete',
    question: html`Delete the account <bdi>${person.name}</bdi>?`,
    consequence: 'It cannot be brought back.',
    fields: person.password !== null && passwordField('Password', 'password', 'current-password'),
  })
  return html`<section>
    <h2>Delete the account</h2>
    <p>
      Your sign-ins, keys and codes end at once. Your agents are let go: they keep their credits and
      apps.
      ${wallet > 0 && html`Your wallet has <strong>${formatCredits(wallet)} credits</strong>, which nobody can spend then: send them to an agent first.`}
    </p>
    ${form(token, '/account/leave', fields)}
  </section>`
}

/** What a form has done. */
const doneMessages = new Map([
  ['password', 'The password is set.'],
  ['codes', 'Recovery codes are shown once. If you did not keep them, make new ones.'],
])

export function accountPage(account: AccountView): Page {
  const { token, person, keys, message, done, current } = account
  const out = form(token, '/sign-out', html`<button class="button quiet">Sign out</button>`, 'act')
  const main = html`<div class="head title">
      <h1>${person.name}</h1>
      ${current !== undefined && out}
    </div>
    <p class="lead">
      ${person.operator ? html`You are the operator of this place: <a href="/console">console</a>.` : 'Your account.'}
      <a href="/agents">Agents</a> · <a href="/wallet">Wallet</a>
    </p>
    ${alert(message)} ${notice(doneMessages.get(done ?? ''))}
    <section>
      <h2>Personal keys</h2>
      <p class="small">
        For scripts: with one they do what you do here, under <code>/people/me</code> of the API. It
        is no agent’s key and pays for nothing.
      </p>
      ${keyTable(token, '/account/keys', keys)}${keyForm(token, '/account/keys')}
    </section>
    ${current !== undefined && securitySections(account)}`
  return { title: 'Account', main, scripts: ['passkeys.js'] }
}
