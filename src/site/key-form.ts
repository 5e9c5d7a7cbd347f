import type { KeyParams } from '../gateway/accounts/schemas.ts'
import {
  keyModelsMax,
  keyNoteCharsMax,
  keyTagCharsMax,
  keyTagsMax,
  perMinuteMax,
} from '../gateway/limits.ts'
import { rejectRequest } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { newId } from '../kernel/ids.ts'
import { keyNameCharsMax } from '../kernel/limits.ts'
import { type NanoUsd, toCredits } from '../kernel/money.ts'
import { iso } from '../kernel/time.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import type { Key, KeySettings, Project } from '../money/keys/keys.ts'
import type { PeriodSpending } from '../money/ledger/reports.ts'
import { copyLine, narrowPage, saveSecret } from './components.ts'
import { spendingBar } from './format.ts'
import { type Form, hiddenField, inputField, readCredits, selectField, textArea } from './forms.ts'
import type { Page } from './layout.ts'

const modelsCharsMax = 10_000

const caps = [
  ['daily_cap', 'dailyCap', 'day', msg('day'), msg('Daily cap'), msg('Daily spending')],
  ['weekly_cap', 'weeklyCap', 'week', msg('week'), msg('Weekly cap'), msg('Weekly spending')],
  ['monthly_cap', 'monthlyCap', 'month', msg('month'), msg('Monthly cap'), msg('Monthly spending')],
] as const
const rates = [
  ['requests_per_minute', 'requestsPerMinute', msg('Requests per minute')],
  ['tokens_per_minute', 'tokensPerMinute', msg('Tokens per minute')],
  ['running_requests', 'runningRequests', msg('Requests at the same time')],
] as const

/** The caps of a key or a project. */
export type Caps = Pick<KeySettings, 'dailyCap' | 'weeklyCap' | 'monthlyCap'>

/** Returns the spending of each period against its cap, with labels. */
export const budgetStats = (budgets: Caps, spent: PeriodSpending): [Text, Part][] =>
  caps.map(([, name, period, , , label]) => [label, spendingBar(spent[period], budgets[name])])

/** The spending of the periods that have a cap, or of the month, in lines of a table. */
export function budgetLines(budgets: Caps, spent: PeriodSpending): Part {
  const capped = caps.filter(([, name]) => budgets[name] !== null)
  const shown = capped.length > 0 ? capped : caps.slice(-1)
  return shown.map(
    ([, name, period, label]) =>
      html`<div class="budget">
        <span class="unit">${label}</span> ${spendingBar(spent[period], budgets[name])}
      </div>`,
  )
}

const creditsOf = (cap: NanoUsd | null): number | undefined =>
  cap === null ? undefined : toCredits(cap)

type Settings = KeySettings & Pick<Key, 'name'>

interface KeyFields {
  typed: Form | undefined
  /** The keys of an agent have a name and a daily cap only. */
  isAgent?: boolean
  /** The projects of the account, for the operator, who chooses one. */
  projects?: Project[]
}

/** Three fields for the caps of a key or a project. */
export const capFields = (budgets: Caps, typed: Form | undefined): Html =>
  html`<fieldset class="field-group">
    <legend>Budgets in credits</legend>
    <p class="small">
      An empty field is no limit. Days, weeks and months are those of UTC. 0 stops all spending.
    </p>
    <div class="triple">
      ${caps.map(([field, name, , , label]) => inputField({ label, name: field, type: 'number', isOptional: true, value: typed?.text(field) ?? creditsOf(budgets[name]) }))}
    </div>
  </fieldset>`

/** The fields of the name and the settings of a key, with its values or those of a failed form. */
export function keyFields(key: Settings, { typed, isAgent, projects = [] }: KeyFields): Html {
  const value = (name: string, stored: string | number | null | undefined) =>
    typed?.text(name) ?? stored ?? undefined
  const number = (name: string, label: Text, stored: number | null | undefined): Html =>
    inputField({ label, name, type: 'number', isOptional: true, value: value(name, stored) })
  const lines = (name: string, stored: string[] | null) =>
    typed?.text(name) ?? (stored ?? []).join('\n')
  const nameField = inputField({
    label: t('Name'),
    name: 'name',
    max: keyNameCharsMax,
    isOptional: true,
    value: value('name', key.name),
  })
  if (isAgent)
    return html`${nameField}${number('daily_cap', t('Daily cap'), creditsOf(key.dailyCap))}`
  return html`${nameField}${projects.length > 0 && projectField(projects, typed?.text('project') ?? key.project)}
    ${capFields(key, typed)}
    <details class="more" ${(typed || hasMore(key)) && html` open`}>
      <summary>More limits</summary>
      <fieldset class="field-group">
        <legend>Rates</legend>
        <p class="small">An empty field is the limit of the server.</p>
        <div class="triple">
          ${rates.map(([field, name, label]) => number(field, label, key[name]))}
        </div>
      </fieldset>
      ${textArea({ label: t('Models'), name: 'models', hint: t('One ID a line. An asterisk stands for any characters: openai/*. Empty: all models.'), max: modelsCharsMax, value: lines('models', key.models) })}
      <label class="field"
        ><span>Expires (UTC)</span
        ><input
          type="datetime-local"
          name="expires_at"
          value="${value('expires_at', key.expires === null ? '' : iso(key.expires).slice(0, 16))}"
      /></label>
      ${textArea({ label: t('Note'), name: 'note', max: keyNoteCharsMax, value: typed?.text('note') ?? key.note ?? '' })}
      ${textArea({ label: t('Tags'), name: 'tags', hint: t('One a line, at most {keyTagsMax}.', { keyTagsMax }), max: keyTagsMax * (keyTagCharsMax + 2), value: lines('tags', key.tags) })}
    </details>`
}

/** Returns whether a key has settings beside its name, its project and its budgets. */
const hasMore = ({ models, expires, note, tags, ...key }: Settings): boolean =>
  rates.some(([, name]) => key[name] !== null) ||
  [models, expires, note].some((one) => one !== null) ||
  (tags ?? []).length > 0

const projectField = (projects: Project[], value: string | null): Html =>
  selectField({
    label: t('Project'),
    name: 'project',
    value: value ?? '',
    options: [['', t('None')], ...projects.map(({ id, name }) => [id, name] as const)],
  })

/** Reads the caps of a key or a project. Throws `bad_request`. */
export const readCaps = (sent: Form): Pick<KeyParams, (typeof caps)[number][0]> =>
  Object.fromEntries(caps.map(([field]) => [field, readCredits(sent, field) ?? null]))

/** Reads the settings of `keyFields`, without the name. Throws `bad_request`. */
export function readKeyParams(sent: Form, now: number): KeyParams {
  const [note, expires] = [sent.text('note').trim(), sent.text('expires_at')]
  if (expires !== '' && !(Date.parse(`${expires.slice(0, 16)}Z`) > now)) {
    rejectRequest(t('Choose a time of expiry in the future, or leave the field empty.'))
  }
  const [models, tags] = [
    readLines(sent, 'models', msg('Models'), keyModelsMax),
    readLines(sent, 'tags', msg('Tags'), keyTagsMax),
  ]
  return {
    ...readCaps(sent),
    ...Object.fromEntries(rates.map(([field, , label]) => [field, readRate(sent, field, label)])),
    models: models.length > 0 ? models : null,
    expires_at: expires === '' ? null : `${expires.slice(0, 16)}:00Z`,
    note: note === '' ? null : note,
    tags,
    ...(sent.has('project') && { project: sent.text('project') || null }),
  }
}

/** Reads the lines of a field. */
function readLines(sent: Form, field: string, label: Text, max: number): string[] {
  const lines = sent.text(field).split('\n')
  const filled = lines.map((line) => line.trim()).filter(Boolean)
  if (filled.length > max)
    rejectRequest(t('Enter at most {max} lines in “{label}”.', { max, label }))
  return filled
}

function readRate(sent: Form, field: string, label: Text): number | null {
  const text = sent.text(field).trim()
  if (text === '') return null
  const rate = Number(text)
  if (Number.isInteger(rate) && rate >= 1 && rate <= perMinuteMax) return rate
  rejectRequest(t('Enter a whole number of “{label}”, 1 or more, or leave it empty.', { label }))
}

interface NewKey {
  /** A sentence about what the key allows. */
  purpose: string
  /** The path of the page to return to. */
  back: string
}

/** An idempotency key: a form that is submitted twice creates one API key. */
export const keyRefField = (): Html => hiddenField('ref', newId())

/** Returns the idempotency key of a form with `keyRefField`. */
export const refOf = (sent: Form): string | undefined => sent.text('ref') || undefined

/** Shows a new key once. A reload submits the form again, which fails. */
export const keyPage = (key: string, { purpose, back }: NewKey): Page =>
  narrowPage(
    t('Save your API key'),
    html`<p class="lead">${purpose} You cannot see this key again.</p>
      ${saveSecret(copyLine(key, t('API key')), `berth-${key.slice(0, 11)}.txt`)}
      <p class="actions"><a class="button" href="${back}">Done</a></p>`,
    { scripts: ['copy-line.js', 'save-secret.js'] },
  )
