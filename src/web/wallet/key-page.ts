import { type Html, html, type Part } from '../../core/html.ts'
import { type NanoUsd, toCredits } from '../../core/money.ts'
import { iso, utcDay } from '../../core/time.ts'
import { readKeySettings } from '../../gateway/accounts/key-settings.ts'
import {
  keyModelsMax,
  keyNoteCharsMax,
  keyTagCharsMax,
  keyTagsMax,
  perMinuteMax,
} from '../../gateway/accounts/limits.ts'
import type { KeyParams } from '../../gateway/accounts/schemas.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { counterOf, type Key, noSettings } from '../../keys/keys.ts'
import { periodAt } from '../../ledger/budgets.ts'
import { sumSpendingSince } from '../../ledger/spending.ts'
import { keyNameCharsMax } from '../../limits.ts'
import { statList } from '../components.ts'
import { revokeDialog } from '../confirm-dialog.ts'
import { renderDateTime } from '../format.ts'
import {
  alert,
  button,
  type Form,
  form,
  inputField,
  readCredits,
  rejectForm,
  textArea,
} from '../forms.ts'
import type { Page } from '../layout.ts'
import { redirectTo, type UserRequest } from '../session.ts'
import { keysPath, spendingBar } from './keys.ts'
import { walletTabs } from './tabs.ts'

const modelsCharsMax = 10_000

const caps = [
  ['daily_cap', 'dailyCap', 'day', 'Daily cap'],
  ['weekly_cap', 'weeklyCap', 'week', 'Weekly cap'],
  ['monthly_cap', 'monthlyCap', 'month', 'Monthly cap'],
] as const
const rates = [
  ['requests_per_minute', 'requestsPerMinute', 'Requests per minute'],
  ['tokens_per_minute', 'tokensPerMinute', 'Tokens per minute'],
] as const

/** Renders the spending and the settings of a gateway key. Throws `not_found`. */
export async function getKeyPage(
  req: UserRequest,
  prefix: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const key = await ownKeys.getGatewayKey(ctx, visitor.person, prefix)
  const spending = await Promise.all(
    caps.map(async ([, name, period, label]): Promise<[string, Part]> => {
      const since = utcDay(periodAt(period, ctx.clock.now()).start)
      const spent = await sumSpendingSince(ctx.db, counterOf(key), since)
      return [label.replace(' cap', ' spending'), spendingBar(spent, key[name])]
    }),
  )
  const action = `${keysPath}/${prefix}`
  const main = html`<h1>${key.name === null ? 'Unnamed key' : html`<bdi>${key.name}</bdi>`}</h1>
    <p class="lead"><code>${prefix}…</code>, created ${renderDateTime(key.created)}</p>
    ${walletTabs('/wallet')}${alert(message)} ${statList(spending)}
    ${form(token, action, settingFields(key, submitted), 'form key-form')}
    <section>
      <h2>Revoke</h2>
      <p>Requests with this key fail at once.</p>
      ${form(token, keysPath, revokeDialog(prefix), 'act')}
    </section>`
  return { title: 'API key', main }
}

const creditsOf = (cap: NanoUsd | null): number | undefined =>
  cap === null ? undefined : toCredits(cap)

function settingFields(key: Key, typed: Form | undefined): Html {
  const value = (name: string, stored: string | number | null | undefined) =>
    typed?.text(name) ?? stored ?? undefined
  const number = (name: string, label: string, stored: number | null | undefined): Html =>
    inputField({ label, name, type: 'number', isOptional: true, value: value(name, stored) })
  const lines = (name: string, stored: string[] | null) =>
    typed?.text(name) ?? (stored ?? []).join('\n')
  return html`${inputField({ label: 'Name', name: 'name', max: keyNameCharsMax, isOptional: true, value: value('name', key.name) })}
    <fieldset class="field-group">
      <legend>Budgets in credits</legend>
      <p class="small">
        An empty field is no limit. Days, weeks and months are those of UTC. 0 stops all spending.
      </p>
      <div class="triple">
        ${caps.map(([field, name, , label]) => number(field, label, creditsOf(key[name])))}
      </div>
    </fieldset>
    <fieldset class="field-group">
      <legend>Rates</legend>
      <div class="triple">
        ${rates.map(([field, name, label]) => number(field, label, key[name]))}
      </div>
    </fieldset>
    ${textArea({ label: 'Models', name: 'models', hint: 'One ID a line. An asterisk stands for any characters: openai/*. Empty: all models.', max: modelsCharsMax, value: lines('models', key.models) })}
    <label class="field"
      ><span>Expires (UTC)</span
      ><input
        type="datetime-local"
        name="expires_at"
        value="${value('expires_at', key.expires === null ? '' : iso(key.expires).slice(0, 16))}"
    /></label>
    ${textArea({ label: 'Note', name: 'note', max: keyNoteCharsMax, value: typed?.text('note') ?? key.note ?? '' })}
    ${textArea({ label: 'Tags', name: 'tags', hint: `One a line, at most ${keyTagsMax}.`, max: keyTagsMax * (keyTagCharsMax + 2), value: lines('tags', key.tags) })}
    <p class="actions">${button('Save')}<a class="button quiet" href="/wallet#keys">Cancel</a></p>`
}

/** Saves the settings of a key. Throws `bad_request`, `not_found`. */
export async function changeKey(req: UserRequest, prefix: string, sent: Form): Promise<Response> {
  const { ctx, visitor } = req
  const params = readParams(sent, ctx.clock.now())
  const name = sent.text('name').trim()
  await ownKeys.changeGatewayKey(ctx, visitor.person, prefix, {
    ...readKeySettings(noSettings, params, ctx.clock.now()),
    ...(name !== '' && { name }),
  })
  return redirectTo('/wallet?done=key#keys')
}

function readParams(sent: Form, now: number): KeyParams {
  const [note, expires] = [sent.text('note').trim(), sent.text('expires_at')]
  if (expires !== '' && !(Date.parse(`${expires.slice(0, 16)}Z`) > now)) {
    rejectForm('Choose a time of expiry in the future, or leave the field empty.')
  }
  const [models, tags] = [
    readLines(sent, 'Models', keyModelsMax),
    readLines(sent, 'Tags', keyTagsMax),
  ]
  return {
    ...Object.fromEntries(caps.map(([field]) => [field, readCredits(sent, field) ?? null])),
    ...Object.fromEntries(rates.map(([field, , label]) => [field, readRate(sent, field, label)])),
    models: models.length > 0 ? models : null,
    expires_at: expires === '' ? null : `${expires.slice(0, 16)}:00Z`,
    note: note === '' ? null : note,
    tags,
  }
}

/** Reads the lines of a field that has the lower-case name of its label. */
function readLines(sent: Form, label: string, max: number): string[] {
  const lines = sent.text(label.toLowerCase()).split('\n')
  const filled = lines.map((line) => line.trim()).filter(Boolean)
  if (filled.length > max) rejectForm(`Enter at most ${max} lines in “${label}”.`)
  return filled
}

function readRate(sent: Form, field: string, label: string): number | null {
  const text = sent.text(field).trim()
  if (text === '') return null
  const rate = Number(text)
  if (Number.isInteger(rate) && rate >= 1 && rate <= perMinuteMax) return rate
  rejectForm(`Enter a whole number of “${label}”, 1 or more, or leave it empty.`)
}
