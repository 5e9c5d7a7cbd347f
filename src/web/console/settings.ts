import type { ConfigRow } from '../../config/settings.ts'
import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/markup.ts'
import { dataTable } from '../data-table.ts'
import type { Page } from '../layout.ts'
import { badge, consolePage } from './layout.ts'

const row = ({ name, value, source, description }: ConfigRow): Part[] => [
  html`<code>${name}</code>`,
  value === '' ? html`<span class="small">none</span>` : html`<code>${value}</code>`,
  ...(source === 'default' ? [] : [badge(source, 'good')]),
  description,
]

/** Every setting with its value and where that came from. Secrets are only set, or not. */
export function settingsPage({ config }: AppContext): Page {
  const { rows, upstreams, models } = config
  const set = rows.filter(({ source }) => source !== 'default')
  const rest = rows.filter(({ source }) => source === 'default')
  const [name, value, help] = ['Setting', { long: 'Value' }, { long: 'What it is' }] as const
  const main = html`${
      set.length > 0 &&
      html`<section>
        <h2>Set here</h2>
        ${dataTable('Settings that are set', [name, value, 'From', help], set.map(row))}
      </section>`
    }
    <section>
      <h2>Defaults</h2>
      ${dataTable('Settings at their defaults', [name, value, help], rest.map(row))}
    </section>
    <p class="small below">
      berth.toml has ${upstreams.length} upstreams and ${models.length} models of its own. Settings
      are read at the start: change one in the environment or the file, and start again.
    </p>`
  return consolePage({ place: '/console/settings', title: 'Settings', main })
}
