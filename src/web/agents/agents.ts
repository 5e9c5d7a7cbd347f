import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import { isPausedByOperator } from '../../hosting/agents/spending.ts'
import { suspensionError } from '../../hosting/agents/suspension.ts'
import type { Note } from '../../hosting/notifications/notifications.ts'
import type { OwnedAgent } from '../../hosting/people/schemas.ts'
import type { Key } from '../../keys/keys.ts'
import type { Entry } from '../../ledger/entries.ts'
import type { DailyAmount } from '../../ledger/spending.ts'
import { keyForm, keyTable } from '../account/account.ts'
import { spendingChart } from '../chart.ts'
import { formatCount, renderDateTime, statList } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { dataTable } from '../data-table.ts'
import { formatColumn, formatCredits } from '../format.ts'
import { alert, form, hiddenField, inputField, notice, type SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState, itemList } from '../lists.ts'
import { describeError } from '../messages.ts'
import { renderNote } from './notes.ts'

const appsShown = 8

const claimForm = (token: string, value: string | undefined): Html => {
  const hint = 'Such as 8K2M-Q0ZT-4RWX.'
  const code = inputField({ label: 'Claim code', name: 'code', value, max: 64, hint })
  return form(token, '/claim', html`${code}<button class="button">Look at it</button>`)
}

/** An agent, with how many apps it made: its shape names only the newest. */
type AgentSummary = OwnedAgent & { made: number; isSuspended: boolean }

const agentCard = ({ handle, credits, paused, dailyCap, made, isSuspended }: AgentSummary): Html =>
  html`<li>
    <a href="/agents/${handle}"
      ><strong>@${handle}</strong><span>${formatCredits(credits)} credits</span
      ><span class="small"
        >${formatCount(made, 'app')}${isSuspended && ' · suspended'}${paused && ' · paused'}${dailyCap !== null && ` · at most ${formatCredits(dailyCap)} a day`}</span
      ></a
    >
  </li>`

const claimHint =
  'Each agent is given a claim link with its key. Open the link, or type its code below, and the ' +
  'agent is yours to fund, bound and pause.'

/** The agents of a person, and where to claim another. */
export function agentsPage(
  token: string,
  agents: AgentSummary[],
  more: { ways: Part; message?: string; code?: string },
): Page {
  const list =
    agents.length > 0
      ? html`<ul class="cards">
            ${agents.map(agentCard)}
          </ul>
          ${more.ways}`
      : emptyState('No agent yet', claimHint)
  const main = html`<h1>Your agents</h1>
    <p class="lead"><a href="/wallet">Wallet</a> · <a href="/account">Account</a></p>
    ${list}
    <section>
      <h2>Claim an agent</h2>
      ${alert(more.message)} ${claimForm(token, more.code)}
    </section>`
  return { title: 'Your agents', main }
}

/** The way back from what belongs to an agent. */
export const agentBreadcrumb = ({ handle }: Pick<Agent, 'handle'>): Html =>
  html`<p class="crumb">
    <a href="/agents">Your agents</a> / <a href="/agents/${handle}">@${handle}</a>
  </p>`

/** What the page of one agent is drawn from. */
export interface AgentView {
  token: string
  agent: OwnedAgent
  /** What others than its owner decided of it. */
  standing: Pick<Agent, 'suspendedFor' | 'pausedBy'>
  /** What is in the person's wallet, in credits. */
  wallet: number
  /** Names the gift that this page would send: sent twice, it is one. */
  ref: string
  spent: DailyAmount[]
  entries: Entry[]
  keys: Key[]
  notes: Note[]
  message?: string | undefined
  /** What was typed into the form that was refused. */
  submitted?: SubmittedForm | undefined
  /** The form that brought here. */
  done?: string | null | undefined
}

/** Why an agent can do nothing, for its owner. */
export const suspensionMessage = (agent: Pick<Agent, 'suspendedFor'>): string | undefined =>
  agent.suspendedFor === null ? undefined : describeError(suspensionError(agent))?.message

/** What a form has done, as it stands now. */
function doneNotice({ done, agent }: AgentView): Part {
  const words = new Map([
    ['credits', `Sent. It has ${formatCredits(agent.credits)} credits now.`],
    ['cap', 'The cap is set.'],
    ['pause', agent.paused ? 'It is paused.' : 'It may buy again.'],
    ['keys', 'The key is revoked.'],
  ]).get(done ?? '')
  return notice(words)
}

/** Ledger lines, newest first. */
export function ledgerTable(entries: Entry[]): Html {
  const amounts = formatColumn(
    entries.map(({ amount }) => amount),
    'exceptZero',
  )
  const left = formatColumn(entries.map(({ balance }) => balance))
  return dataTable(
    'Ledger',
    ['Time', { kind: 'What' }, 'Of', { number: 'Credits' }, { number: 'Left' }],
    entries.map(({ at, kind, item }, row) => [
      renderDateTime(iso(at)),
      kind,
      item !== null && html`<code>${item}</code>`,
      amounts[row],
      left[row],
    ]),
  )
}

function limitSections({ token, agent, standing, wallet, ref, submitted }: AgentView): Html {
  const path = `/agents/${agent.handle}`
  const credits = inputField({
    label: 'Credits',
    name: 'credits',
    type: 'number',
    hint: `Your wallet has ${formatCredits(wallet)}.`,
    value: submitted?.text('credits'),
  })
  const gift = html`${hiddenField('ref', ref)}${credits}<button class="button">
      Send credits
    </button>`
  const cap = inputField({
    label: 'Credits a day',
    name: 'dailyCap',
    type: 'number',
    value: submitted?.text('dailyCap') || (agent.dailyCap ?? ''),
    hint: 'Of all its keys together. Empty: no cap.',
    isOptional: true,
  })
  const byOperator = isPausedByOperator(standing)
  const words = byOperator
    ? 'The operator of this place paused it: it can buy nothing until they let it.'
    : agent.paused
      ? 'It is paused and can buy nothing.'
      : 'Paused, it can buy nothing.'
  const pause = html`${hiddenField('paused', agent.paused ? 'no' : 'yes')}<button
      class="button quiet"
    >
      ${agent.paused ? 'Let it buy again' : 'Pause it'}
    </button>`
  return html`<div class="columns">
    <section>
      <h2>Send credits</h2>
      ${form(token, `${path}/credits`, gift)}
    </section>
    <section>
      <h2>Daily cap</h2>
      ${form(token, `${path}/cap`, html`${cap}<button class="button quiet">Set the cap</button>`)}
      <p class="small below">${words}</p>
      ${!byOperator && form(token, `${path}/pause`, pause, 'act')}
    </section>
  </div>`
}

const stats = ({ credits, held, spentToday, dailyCap }: OwnedAgent): Html =>
  statList([
    ['Credits', formatCredits(credits)],
    ['Held for what runs', formatCredits(held)],
    [
      'Spent today',
      html`${formatCredits(spentToday)}${dailyCap !== null && ` of ${formatCredits(dailyCap)}`}`,
    ],
  ])

const emptyList = html`<p class="small">Nothing yet.</p>`

/** The head of the newest of a list, with a way to all of it. */
const sectionHead = (name: string, path: string, hasMore: boolean): Html =>
  html`<div class="head">
    <h2>${name}</h2>
    ${hasMore && html`<a class="small" href="${path}" aria-label="${name}: all">All</a>`}
  </div>`

/** One agent, as its owner sees it. */
export function agentPage(view: AgentView): Page {
  const { token, agent, standing, spent, entries, keys, notes, submitted } = view
  const message = view.message ?? suspensionMessage(standing)
  const path = `/agents/${agent.handle}`
  const apps = agent.apps.slice(0, appsShown).map(
    ({ id, title }) =>
      html`<li>
        <a href="/studio/${id}"><bdi>${title}</bdi></a>
      </li>`,
  )
  const release = confirmDialog({
    label: 'Release',
    question: `Release @${agent.handle}?`,
    consequence: 'It is yours no more, and what you sent it stays with it.',
  })
  const main = html`<p class="crumb"><a href="/agents">Your agents</a></p>
    <h1>@${agent.handle}</h1>
    ${agent.about !== null && html`<p class="lead"><bdi>${agent.about}</bdi></p>`} ${alert(message)}
    ${doneNotice(view)} ${stats(agent)} ${limitSections(view)}
    <section>
      <h2>Spending</h2>
      ${spendingChart(spent)}
    </section>
    <div class="columns">
      <section>
        ${sectionHead('What it made', `${path}/apps`, apps.length > 0)} ${itemList(apps, emptyList)}
      </section>
      <section>
        ${sectionHead('What it was told', `${path}/notes`, notes.length > 0)}
        ${itemList(notes.map(renderNote), emptyList)}
      </section>
    </div>
    <section>
      ${sectionHead('Ledger', `${path}/ledger`, entries.length > 0)} ${ledgerTable(entries)}
    </section>
    <section>
      <h2>Keys</h2>
      ${keyTable(token, `${path}/keys`, keys)}${keyForm(token, `${path}/keys`, submitted?.text('name'))}
    </section>
    <section>
      <h2>Release</h2>
      <p class="small">It keeps its credits, apps and keys, and another person can claim it.</p>
      ${form(token, `${path}/release`, release)}
    </section>`
  return { title: `@${agent.handle}`, main }
}
