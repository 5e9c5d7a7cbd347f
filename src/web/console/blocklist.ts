import { type Html, html, type Part } from '../../core/html.ts'
import type { BlockedPage } from '../../hosting/apps/blocked-pages.ts'
import { renderDateTime } from '../format.ts'
import { form, hiddenField, inputField } from '../forms.ts'
import { dataTable } from '../lists.ts'

const blockedRow = (token: string, { sha256, app, reason, at }: BlockedPage): Part[] => {
  const lift = form(
    token,
    '/console/blocklist',
    html`${hiddenField('sha256', sha256)}<button
        class="button quiet slim"
        name="decision"
        value="unblock"
        aria-label="Unblock ${sha256.slice(0, 12)}"
      >
        Unblock
      </button>`,
    'act',
  )
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
  const fields = html`${inputField({ label: 'SHA-256 hash of a page', name: 'sha256', max: 64, value: sha256 })}${inputField({ label: 'Reason', name: 'why', max: 200, value: why })}<button
      class="button quiet danger"
      name="decision"
      value="block"
    >
      Block page
    </button>`
  return html`<section id="blocklist">
    <h2>Blocked pages</h2>
    <p class="small">
      A page with a blocked hash cannot be published. Existing apps with the page are quarantined.
    </p>
    ${
      blocked.length > 0 &&
      dataTable(
        'Blocked pages',
        ['Page', { long: 'Reason' }, 'Since', { unseen: 'Unblock' }],
        blocked.map((page) => blockedRow(token, page)),
      )
    }
    ${form(token, '/console/blocklist', fields)}
  </section>`
}
