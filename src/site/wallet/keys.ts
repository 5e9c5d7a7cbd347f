import {
  addWalletKey,
  changeWalletKey,
  revokeWalletKey,
} from '../../apps/owners/wallet-operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { keyNameCharsMax } from '../../kernel/limits.ts'
import { zero } from '../../kernel/money.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { counterOf, type Key, listAll } from '../../money/keys/keys.ts'
import { type LatestSpending, sumSpendingByPeriod } from '../../money/ledger/reports.ts'
import * as ownKeys from '../../people/keys.ts'
import { copyLine, statList } from '../components.ts'
import { form } from '../form.ts'
import { renderDate, renderDateTime, spendingBar } from '../format.ts'
import {
  alert,
  button,
  type Form,
  inputField,
  notice,
  postForm,
  readCredits,
  revokeDialog,
} from '../forms.ts'
import { budgetStats, keyFields, keyPage, keyRefField, readKeyParams, refOf } from '../key-form.ts'
import type { Page } from '../layout.ts'
import { dataTable } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { walletTabs } from './history.ts'

export const keysPath = '/wallet/keys'

export interface KeysView {
  token: string
  /** The gateway's URL. */
  gateway: string
  keys: Key[]
  last: Map<string, LatestSpending>
  /** The default daily cap of a new key in credits; null is no limit. */
  cap: number | null
  /** The form that failed, with the typed values. */
  submitted?: Form | undefined
  /** The form that was submitted successfully. */
  done?: string | null | undefined
}

function keyRow({ token, last }: KeysView, key: Key): Part[] {
  const { prefix, name, models, dailyCap, expires } = key
  const used = last.get(counterOf(key))
  return [
    html`<a class="model-name" href="${keysPath}/${prefix}"
        >${name === null ? t('Unnamed key') : html`<bdi>${name}</bdi>`}</a
      ><code>${prefix}…</code>`,
    models === null ? t('All') : models.join(', '),
    spendingBar(used?.today ?? zero, dailyCap),
    used ? renderDate(used.day) : t('Never'),
    expires === null ? t('Never') : renderDate(expires),
    html`<a class="button quiet slim" href="${keysPath}/${prefix}">Edit</a>
      ${postForm(token, keysPath, revokeDialog(prefix), 'act')}`,
  ]
}

const columns = [
  { long: msg('Name') },
  { long: msg('Models') },
  msg('Spent today / cap'),
  msg('Last used'),
  msg('Expires'),
  { unseen: msg('Actions') },
]

export function walletKeySection(view: KeysView): Html {
  const { token, gateway, keys, cap, submitted, done } = view
  const typed = submitted?.has('name') ? submitted : undefined
  const doneMessage = new Map([
    ['key', t('API key updated.')],
    ['revoke', t('API key revoked.')],
  ]).get(done ?? '')
  const rows = keys.map((key) => keyRow(view, key))
  const createForm = html`${keyRefField()}${inputField({ label: t('Key name'), name: 'name', max: keyNameCharsMax, isOptional: true, value: typed?.text('name') })}${inputField({ label: t('Daily cap in credits (optional)'), name: 'dailyCap', type: 'number', isOptional: true, value: typed?.text('dailyCap') ?? cap ?? undefined })}${button(t('Create API key'), 'quiet')}`
  return html`<section id="keys">
    <h2>Gateway API keys</h2>
    ${notice(doneMessage)}
    <p class="small">
      Use these keys with any OpenAI client. Requests are paid from this wallet. Edit a key to set
      its models, budgets, rates and expiry.
    </p>
    ${copyLine(`OPENAI_BASE_URL=${gateway}/v1`, t('Base URL for OpenAI clients'))}
    ${
      keys.length > 0 &&
      html`<div class="models keys">${dataTable(t('API keys'), columns, rows)}</div>`
    }
    ${postForm(token, keysPath, createForm, 'form three-fields')}
  </section>`
}

const revokeKey = form(revokeWalletKey, {
  params: (sent) => ({ prefix: sent.text('revoke') }),
  then: '/wallet?done=revoke#keys',
})

const createKey = form(addWalletKey, {
  fields(sent) {
    const name = sent.text('name').trim()
    return { ...(name && { name }), dailyCap: readCredits(sent, 'dailyCap') ?? null }
  },
  ref: refOf,
  then: ({ key }) =>
    keyPage(key, {
      purpose: t('Anyone with this key can spend from your wallet.'),
      back: '/wallet#keys',
    }),
})

/** Creates or revokes a key. */
export const changeKeys = (req: UserRequest, sent: Form): Promise<Response> =>
  (sent.text('revoke') ? revokeKey : createKey)(req, sent)

/** Returns the names of a wallet's keys by prefix, also of revoked ones. */
export async function keyNames(
  { db }: AppContext,
  wallet: string,
): Promise<Map<string, string | null>> {
  const all = await listAll(db.read, wallet)
  return new Map(all.map(({ prefix, name }) => [prefix, name]))
}

/** Renders the spending and the settings of a gateway key. Throws `not_found`. */
export async function getKeyPage(
  req: UserRequest,
  prefix: string,
  message?: string,
  typed?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const key = await ownKeys.getGatewayKey(ctx, visitor.person, prefix)
  const counter = counterOf(key)
  const spent = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  const action = `${keysPath}/${prefix}`
  const fields = html`${keyFields(key, { typed })}
    <p class="actions">
      ${button(t('Save'))}<a class="button quiet" href="/wallet#keys">Cancel</a>
    </p>`
  const main = html`<h1>${key.name === null ? t('Unnamed key') : html`<bdi>${key.name}</bdi>`}</h1>
    <p class="lead"><code>${prefix}…</code>, created ${renderDateTime(key.created)}</p>
    ${walletTabs(ctx.config, '/wallet')}${alert(message)} ${statList(budgetStats(key, spent))}
    ${postForm(token, action, fields, 'form key-form')}
    <section>
      <h2>Revoke</h2>
      <p>Requests with this key fail at once.</p>
      ${postForm(token, keysPath, revokeDialog(prefix), 'act')}
    </section>`
  return { title: t('API key'), main }
}

/** Returns the form that saves the settings of a key. */
export const changeKey = (prefix: string) =>
  form(changeWalletKey, {
    params: { prefix },
    fields(sent, { ctx }) {
      const name = sent.text('name').trim()
      return { ...readKeyParams(sent, ctx.clock.now()), ...(name !== '' && { name }) }
    },
    then: '/wallet?done=key#keys',
  })
