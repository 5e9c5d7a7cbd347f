import { modelSettingWarnings } from '../../apps/model-call.ts'
import { expectedOf } from '../../kernel/config/setting-types.ts'
import { type ConfigRow, sections, SettingsSchema } from '../../kernel/config/settings.ts'
import { defaultOf, editableSettings, isFixed, isSecret } from '../../kernel/config/values.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { searchTerm, section, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { renderDateTime } from '../../site/format.ts'
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
import { dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { wireWord } from '../../site/wire-words.ts'
import { changeSetting, resetSetting, undoSetting } from '../operator/operations.ts'
import { places } from '../operator/settings.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './components.ts'

const place = '/console/settings'

const shown = (value: string): Html =>
  value === '' ? html`<span class="small">none</span>` : html`<code>${value}</code>`

const isEditable = ({ name, source }: ConfigRow): boolean =>
  editableSettings.has(name) && !isFixed(source)

const pathOf = ({ name }: ConfigRow): string => `${place}/${name}`

function cells(row: ConfigRow): Part[] {
  const { name, value, source, description } = row
  return [
    html`<a href="${pathOf(row)}"><code>${name}</code></a>
      <div class="small">${t(description)}</div>`,
    shown(value),
    source !== 'default' && badge(wireWord(source), isFixed(source) ? 'plain' : 'good'),
    isEditable(row) && html`<a href="${pathOf(row)}" aria-label="Edit ${name}">Edit</a>`,
  ]
}

const columns = [
  { long: msg('Setting') },
  { long: msg('Value') },
  msg('Source'),
  { unseen: msg('Edit') },
] as const

/** Renders the last change, with a button that restores the value before it. */
function doneNotice({ ctx, query, token }: UserRequest): Part {
  const row = findRow(ctx, query.get('changed') ?? '')
  const change = row && ctx.settings.find(row.name)
  if (!row || !change) return undefined
  return html`<div class="notice" role="status">
    <span><code>${row.name}</code> is ${row.value === '' ? 'empty' : shown(row.value)} now.</span>
    ${postForm(token, pathOf(row), html`${hiddenField('act', 'undo')}${button(t('Undo'), 'quiet slim')}`, 'inline')}
  </div>`
}

/** The groups of settings with their numbers. Those that match a search are open. */
function groupList(rows: ConfigRow[], kind: string, isSearch: boolean): Part {
  const groups = Object.entries(sections).flatMap(([title, group]) => {
    const own = rows.filter(({ name }) => Object.hasOwn(group, name))
    const set = own.filter(({ source }) => source !== 'default').length
    return own.length === 0
      ? []
      : html`<details ${isSearch && html`open`}>
          <summary>
            ${t(title)} <span class="small">${own.length}${set > 0 && html`, ${set} set`}</span>
          </summary>
          ${dataTable(t('{group}, {kind}', { group: t(title), kind }), [...columns], own.map(cells))}
        </details>`
  })
  return html`<div class="settings">
    ${groups.length > 0 ? groups : html`<p class="small">None matches.</p>`}
  </div>`
}

/** Renders all settings, first those that can be changed here. Secrets have no value. */
export function settingsPage(req: UserRequest): Page {
  const { ctx, query } = req
  const { upstreams, models } = ctx.config
  const words = searchTerm(query, searchCharsMax)
  const rows = ctx.config.rows.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(words?.toLowerCase() ?? ''),
  )
  const list = (kind: string, isOfKind: (row: ConfigRow) => boolean): Part =>
    groupList(rows.filter(isOfKind), kind, words !== undefined)
  const warnings = modelSettingWarnings(ctx)
  const main = html`${searchForm(place, t('Search by name or description'), words)}
  ${doneNotice(req)} ${warnings.map((text) => html`<p class="alert">${text}</p>`)}
  ${section(
    t('Change here'),
    html`<p class="small">A change applies at once, in all processes, and stays after a restart.</p>
      ${list(t('editable'), isEditable)}`,
  )}
  ${section(
    t('Set at the start'),
    html`<p class="small">
        Change these in the environment or berth.toml and restart Berth. A value that is set there
        wins over the console. berth.toml defines ${upstreams.length} upstreams and ${models.length}
        models.
      </p>
      ${list(t('fixed'), (row) => !isEditable(row))}`,
  )}`
  return consolePage({ place, title: t('Settings'), main })
}

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
  const change = ctx.settings.find(row.name)
  const typed = submitted?.has('value') ? submitted.text('value') : row.value
  const reset = html`<button class="button quiet" name="act" value="reset">Restore default</button>`
  const fields = html`${valueField(row, typed)}
    <div class="actions">
      <button class="button" name="act" value="set">Save</button>
      ${row.source === 'console' && reset}
    </div>`
  const main = html`<p class="lead">${t(row.description)}</p>
    <p class="small">
      ${shown(row.value)}, set ${places[row.source]}.
      ${row.source !== 'default' && html`The default is ${shown(defaultOf(row.name))}.`}
      ${change && html`Last changed by <bdi>${change.by}</bdi>, ${renderDateTime(change.at)}.`}
    </p>
    ${isEditable(row) ? postForm(token, pathOf(row), fields) : notice(fixedText(row))}
    <p class="below"><a href="${place}">All settings</a></p>`
  return consolePage({ place, title: name, message, main })
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
