import { type Html, html } from '../../core/markup.ts'
import type { House } from '../../house.ts'
import type { ConfigRow } from '../../settings.ts'
import type { Page } from '../layout.ts'
import { badge, consolePage, table } from './frame.ts'

const row = ({ name, value, source, help }: ConfigRow): Html =>
  html`<tr>
    <td><code>${name}</code></td>
    <td class="long">
      ${value === '' ? html`<span class="small">none</span>` : html`<code>${value}</code>`}
    </td>
    <td>${badge(source, source === 'default' ? 'plain' : 'good')}</td>
    <td class="long">${help}</td>
  </tr>`

/** Every setting with its value and where that came from. Secrets are only set, or not. */
export function settingsPage({ config }: House): Page {
  const { rows, upstreams, models } = config
  const set = rows.filter(({ source }) => source !== 'default')
  const rest = rows.filter(({ source }) => source === 'default')
  const heads = ['Setting', 'Value', 'From', 'What it is']
  const main = html`${
      set.length > 0 &&
      html`<section>
        <h2>Set here</h2>
        ${table('Settings that are set', heads, set.map(row))}
      </section>`
    }
    <section>
      <h2>Defaults</h2>
      ${table('Settings at their defaults', heads, rest.map(row))}
    </section>
    <p class="small below">
      berth.toml has ${upstreams.length} upstreams and ${models.length} models of its own. Settings
      are read at the start: change one in the environment or the file, and start again.
    </p>`
  return consolePage({ place: '/console/settings', title: 'Settings', main })
}
