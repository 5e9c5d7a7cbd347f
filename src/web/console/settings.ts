import type { ConfigRow } from '../../config/settings.ts'
import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/html.ts'
import { section } from '../components.ts'
import type { Page } from '../layout.ts'
import { dataTable } from '../lists.ts'
import { badge, consolePage } from './components.ts'

const row = ({ name, value, source, description }: ConfigRow): Part[] => [
  html`<code>${name}</code>`,
  value === '' ? html`<span class="small">none</span>` : html`<code>${value}</code>`,
  ...(source === 'default' ? [] : [badge(source, 'good')]),
  description,
]

/** Renders all settings with their sources. Secrets only show whether they are set. */
export function settingsPage({ config }: AppContext): Page {
  const { rows, upstreams, models } = config
  const set = rows.filter(({ source }) => source !== 'default')
  const rest = rows.filter(({ source }) => source === 'default')
  const [name, value, help] = ['Setting', { long: 'Value' }, { long: 'Description' }] as const
  const main = html`${
      set.length > 0 &&
      section('Changed', dataTable('Changed settings', [name, value, 'Source', help], set.map(row)))
    }
    ${section('Defaults', dataTable('Default settings', [name, value, help], rest.map(row)))}
    <p class="small below">
      berth.toml defines ${upstreams.length} upstreams and ${models.length} models. To change a
      setting, edit the environment or the file and restart Berth.
    </p>`
  return consolePage({ place: '/console/settings', title: 'Settings', main })
}
