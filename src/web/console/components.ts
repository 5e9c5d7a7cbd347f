import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { App } from '../../hosting/apps/apps.ts'
import { stateOf } from '../../hosting/apps/present.ts'
import type { AuditEntry } from '../../hosting/audit/audit.ts'
import type { Owner } from '../../ledger/accounts.ts'
import { whyCharsMax } from '../../limits.ts'
import { hasNow } from '../../operator/grants.ts'
import { renderDate, renderDateTime } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { dataTable } from '../data-table.ts'
import { formatCredits } from '../format.ts'
import { form, textArea } from '../forms.ts'
import { badge } from './layout.ts'

/** How an app stands, in one word that stands out where somebody decided it. */
export function stateBadge(app: App): Html {
  const state = app.heldAt !== null ? 'held' : stateOf(app)
  const word = state === 'taken_down' ? 'taken down' : state
  return badge(word, state === 'live' ? 'good' : state === 'building' ? 'plain' : 'bad')
}

/** What is on an owner's account, in credits. */
export const getCredits = async (ctx: AppContext, owner: Owner): Promise<string> =>
  formatCredits(await hasNow(ctx, { owner }))

/** A decision that a form offers: its name, the word on its button, and what cannot be undone. */
export type DecisionOption = [name: string, word: string, ends?: string]

/** Where a decision goes, what is said of its reason, and the reason that was refused. */
interface DecisionForm {
  action: string
  hint: string
  why?: string | undefined
}

/** A reason, and a button for each decision that may be taken now. */
export function decisionForm(
  token: string,
  { action, hint, why }: DecisionForm,
  offers: DecisionOption[],
): Part {
  const button = ([name, word, ends]: DecisionOption, at: number): Html =>
    ends === undefined
      ? html`<button class="button${at > 0 && ' quiet'}" name="decision" value="${name}">
          ${word}
        </button>`
      : confirmDialog({
          label: word,
          question: `${word}?`,
          consequence: ends,
          submit: { name: 'decision', value: name },
        })
  const fields = html`${textArea({ label: 'Reason', name: 'why', value: why, hint, max: whyCharsMax })}
    <div class="acts">${offers.map(button)}</div>`
  return offers.length > 0 && form(token, action, fields)
}

/** An item of the audit log as a link to where it is looked at. */
const itemLink = (item: string): Html => {
  if (item.startsWith('@')) return html`<a href="/console/agents/${item.slice(1)}">${item}</a>`
  if (/^[\w-]{12}$/.test(item))
    return html`<a href="/console/apps/${item}"><code>${item}</code></a>`
  return html`<code title="${item}">${item.length > 24 ? `${item.slice(0, 16)}…` : item}</code>`
}

/** What was decided, newest first. */
export const auditTable = (entries: AuditEntry[]): Html =>
  dataTable(
    'Decisions',
    ['When', 'Who', 'What', 'About', { long: 'Why' }],
    entries.map(({ at, by, did, item, why }) => [
      renderDateTime(iso(at)),
      html`<bdi>${by}</bdi>`,
      did,
      itemLink(item),
      why !== '' && html`<bdi>${why}</bdi>`,
    ]),
  )

/** What was decided of one thing, where anything was. */
export const decisionHistory = (entries: AuditEntry[]): Part =>
  entries.length > 0 &&
  html`<section>
    <h2>What was decided</h2>
    ${auditTable(entries)}
  </section>`

/** Apps with how they stand. */
export const appTable = (apps: App[]): Html =>
  dataTable(
    'Apps',
    [{ long: 'App' }, 'State', 'Explore', 'Made'],
    apps.map((app) => [
      html`<a href="/console/apps/${app.id}"><bdi>${app.title}</bdi></a>`,
      stateBadge(app),
      app.listed,
      renderDate(iso(app.created)),
    ]),
  )
