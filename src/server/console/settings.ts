import { modelSettingWarnings } from '../../apps/model-call.ts'
import { expectedOf } from '../../kernel/config/setting-types.ts'
import { type ConfigRow, sections, SettingsSchema } from '../../kernel/config/settings.ts'
import { defaultOf, editableSettings, isFixed, isSecret } from '../../kernel/config/values.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { searchTerm, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatCount, renderDateTime } from '../../site/format.ts'
import {
  button,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
  selectField,
} from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { chip, dataTable, emptyState, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { changeSetting, resetSetting, undoSetting } from '../operator/operations.ts'
import { providerKeys } from '../operator/providers.ts'
import { places } from '../operator/settings.ts'
import { consolePage, type Fact, factLines, searchCharsMax, searchForm } from './components.ts'
import { settingName } from './setting-names.ts'

const place = '/console/settings'

const shown = (value: string): Html =>
  value === '' ? html`<span class="small">none</span>` : html`<code>${value}</code>`

const isEditable = ({ name, source }: ConfigRow): boolean =>
  editableSettings.has(name) && !isFixed(source)

const pathOf = ({ name }: ConfigRow): string => `${place}/${name}`

function cells(row: ConfigRow) {
  const { name, value, source, description } = row
  const edit = html`<a
    class="button quiet slim"
    href="${pathOf(row)}"
    aria-label="Edit ${settingName(name)}"
    >Edit</a
  >`
  return [
    html`<a href="${pathOf(row)}">${settingName(name)}</a> <code class="code-name">${name}</code>
      <div class="small">${t(description)}</div>`,
    value === '' ? usual(shown(value)) : shown(value),
    source === 'default' ? usual(t(places.default)) : t(places[source]),
    isEditable(row) && edit,
  ]
}

const columns = [
  { long: msg('Setting') },
  { long: msg('Value') },
  { text: msg('Set'), onPhone: 'plain' },
  { unseen: msg('Edit') },
] as const

/** Renders the last change, with a button that restores the value before it. */
function doneNotice({ ctx, query, token }: UserRequest): Part {
  const row = findRow(ctx, query.get('changed') ?? '')
  const change = row && ctx.settings.find(row.name)
  if (!row || !change) return undefined
  return html`<div class="notice" role="status">
    <span
      >${settingName(row.name)} is ${row.value === '' ? t('empty') : shown(row.value)} now.</span
    >
    ${postForm(token, pathOf(row), html`${hiddenField('act', 'undo')}${button(t('Undo'), 'quiet slim')}`, 'inline')}
  </div>`
}

/** Returns the subjects that have some of the rows, in the order of docs/settings.md. */
const subjectsOf = (rows: ConfigRow[]) =>
  Object.entries(sections).flatMap(([title, group]) => {
    const own = rows.filter(({ name }) => Object.hasOwn(group, name))
    const id = title.toLowerCase().replace(/\W+/g, '-')
    return own.length === 0 ? [] : [{ id, title: t(title), rows: own }]
  })

type Subject = ReturnType<typeof subjectsOf>[number]

/** Providers without a key are many. The page of providers takes their keys. */
const isUnusedKey = ({ name, value }: ConfigRow): boolean =>
  value === '' && providerKeys.some(({ setting }) => setting === name)

function subjectSection({ id, title, rows }: Subject, isWhole: boolean): Html {
  const folded = isWhole ? rows.filter(isUnusedKey) : []
  const table = (some: ConfigRow[]): Part => dataTable(title, [...columns], some.map(cells))
  return html`<section id="${id}">
    <h2>${title}</h2>
    ${table(rows.filter((row) => !folded.includes(row)))}
    ${
      folded.length > 0 &&
      html`<details>
        <summary>${t('Providers without a key ({length})', { length: folded.length })}</summary>
        <p class="small">
          <a href="/console/providers">Providers</a> tests a key before it stores it.
        </p>
        ${table(folded)}
      </details>`
    }
  </section>`
}

/** Links to the subjects, which stay beside the list. */
const subjectNav = (subjects: Subject[]): Html =>
  html`<nav class="subjects" aria-label="Subjects">
    <ul>
      ${subjects.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`

/** Renders all settings by subject, or those that are changed. Secrets have no value. */
export function settingsPage(req: UserRequest): Page {
  const { ctx, query } = req
  const words = searchTerm(query, searchCharsMax)
  const isFiltered = query.get('show') === 'changed'
  const found = ctx.config.rows.filter(({ name, description }) =>
    `${name} ${settingName(name)} ${t(description)} ${description}`
      .toLowerCase()
      .includes(words?.toLowerCase() ?? ''),
  )
  const changed = found.filter(({ source }) => source !== 'default')
  const subjects = subjectsOf(isFiltered ? changed : found)
  const warnings = modelSettingWarnings(ctx)
  const main = html`${searchForm(place, t('Search by name or description'), words)}
    <ul class="chips filters">
      ${chip(withQuery(place, { q: words }), t('All ({length})', { length: found.length }), !isFiltered)}
      ${chip(withQuery(place, { q: words, show: 'changed' }), t('Changed ({length})', { length: changed.length }), isFiltered)}
    </ul>
    ${doneNotice(req)} ${warnings.map((text) => html`<p class="alert">${text}</p>`)}
    ${
      subjects.length === 0
        ? emptyState(t('No settings found'), t('Search for another word, or show all settings.'))
        : html`<div class="settings">
            <div>${subjects.map((subject) => subjectSection(subject, words === undefined))}</div>
            ${subjects.length > 1 && subjectNav(subjects)}
          </div>`
    }`
  return consolePage({ place, title: t('Settings'), lead: lead(ctx), main })
}

const lead = ({ config: { upstreams, models } }: AppContext): Html =>
  html`A change here applies at once, in all processes. Settings without “Edit” are set in the
  environment or in berth.toml, and wait for a restart.
  ${
    upstreams.length + models.length > 0 &&
    html`berth.toml also defines ${formatCount(upstreams.length, 'upstream')} and
    ${formatCount(models.length, 'model')}.`
  }`

export const findRow = ({ config }: AppContext, name: string): ConfigRow | undefined =>
  config.rows.find((row) => row.name === name)

function valueField({ name }: ConfigRow, value: string): Html {
  const schema = SettingsSchema.properties[name]
  const words = schema.anyOf?.flatMap((one: { const?: string }) => one.const ?? []) ?? []
  const options: string[] = schema.type === 'boolean' ? ['on', 'off'] : words
  const label = t('Value')
  if (options.length > 0) {
    const pairs = options.map((word) => [word, word] as const)
    return selectField({ label, name: 'value', value, options: pairs })
  }
  const shownHint = isSecret(name) ? `${t('The value is not shown. Empty removes it.')} ` : ''
  const hint = shownHint + t('It must be {expected}.', { expected: expectedOf(schema) })
  return inputField({
    label,
    name: 'value',
    value: isSecret(name) ? '' : value,
    hint,
    max: 10_000,
    isOptional: true,
  })
}

/** Renders one setting with its form. Throws `not_found`. */
export function settingPage(
  req: UserRequest,
  name: string,
  message?: string,
  submitted?: Form,
): Page {
  const { ctx, token } = req
  const row = findRow(ctx, name)
  if (!row) throw new ApiError('not_found', { what: 'setting' })
  const typed = submitted?.has('value') ? submitted.text('value') : row.value
  const reset = html`<button class="button quiet" name="act" value="reset">Restore default</button>`
  const fields = html`${valueField(row, typed)}
    <div class="actions">
      <button class="button" name="act" value="set">Save</button>
      ${row.source === 'console' && reset}
    </div>`
  const [subject] = subjectsOf([row])
  const main = html`${isEditable(row) ? postForm(token, pathOf(row), fields) : notice(fixedText(row))}
  ${factLines(settingFacts(ctx, row))}`
  return consolePage({
    place,
    title: settingName(row.name),
    above: [
      [place, t('Settings')],
      ...(subject ? [[`${place}#${subject.id}`, subject.title] as const] : []),
    ],
    lead: html`${t(row.description)} <code class="code-name">${row.name}</code>`,
    message,
    main,
  })
}

function settingFacts(ctx: AppContext, row: ConfigRow): Fact[] {
  const facts: Fact[] = []
  // The form shows the value of one that can be changed.
  if (!isEditable(row) || isSecret(row.name)) facts.push([t('Value'), shown(row.value)])
  // The notice of one that is fixed says where it is set.
  if (!isFixed(row.source)) facts.push([t('Set'), t(places[row.source])])
  if (row.source !== 'default') facts.push([t('Default'), shown(defaultOf(row.name))])
  const change = ctx.settings.find(row.name)
  if (change) {
    const by = t('by {name}', { name: change.by })
    facts.push([t('Last change'), html`${renderDateTime(change.at)}, ${by}`])
  }
  return facts
}

const fixedText = ({ name, source }: ConfigRow): string =>
  isFixed(source)
    ? t('It is set {value}, which wins. Change it there and restart Berth.', {
        value: places[source],
      })
    : t('Set {name} in the environment or in berth.toml and restart Berth.', { name })

/** Returns the form that changes a setting, restores its default, or undoes the last change. */
export function settingForm(name: string, sent: Form) {
  const to = { params: { name }, then: withQuery(place, { changed: name }) }
  const act = sent.text('act')
  if (act === 'set') return form(changeSetting, to)
  if (act === 'reset') return form(resetSetting, to)
  if (act === 'undo') return form(undoSetting, to)
  throw new ApiError('not_found', { what: 'page' })
}
