import type { BlockedPage } from '../../apps/blocked-pages.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { renderDateTime } from '../../site/format.ts'
import { button, form, hiddenField, inputField } from '../../site/forms.ts'
import { dataTable } from '../../site/lists.ts'

const blockedRow = (token: string, { sha256, app, reason, at }: BlockedPage): Part[] => {
  const unblock = { name: 'decision', value: 'unblock', target: sha256.slice(0, 12) }
  const fields = html`${hiddenField('sha256', sha256)}${button('Unblock', 'quiet slim', unblock)}`
  const lift = form(token, '/console/blocklist', fields, 'act')
  const of = html`<a href="/console/apps/${app}">Restore app</a>`
  return [
    html`<code title="${sha256}">${sha256.slice(0, 16)}…</code>`,
    html`<bdi>${reason}</bdi>`,
    renderDateTime(at),
    app === '' ? lift : of,
  ]
}

/** Renders the blocked pages, with a form that blocks another one. */
export function blocklist(
  token: string,
  blocked: BlockedPage[],
  { sha256, why }: { sha256: string; why?: string | undefined },
): Html {
  const fields = html`${inputField({ label: 'SHA-256 hash of a page', name: 'sha256', max: 64, value: sha256 })}${inputField({ label: 'Reason', name: 'why', max: 200, value: why })}${button('Block page', 'quiet danger', { name: 'decision', value: 'block' })}`
  const heads = ['Page', { long: 'Reason' }, 'Since', { unseen: 'Unblock' }]
  const rows = blocked.map((page) => blockedRow(token, page))
  return html`<section id="blocklist">
    <h2>Blocked pages</h2>
    <p class="small">
      A page with a blocked hash cannot be published. Existing apps with the page are quarantined.
    </p>
    ${dataTable('Blocked pages', heads, rows, false)} ${form(token, '/console/blocklist', fields)}
  </section>`
}
