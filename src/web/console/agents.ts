import { makeCursor, pageOf } from '../../core/cursor.ts'
import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import { listAgents } from '../../hosting/agents/listing.ts'
import { isPausedByOperator } from '../../hosting/agents/spending.ts'
import { namesOf } from '../../hosting/people/listing.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import { agentCaseOf } from '../../operator/cases.ts'
import type { Decision } from '../../operator/decisions.ts'
import {
  formatBytes,
  queryOf,
  renderDate,
  renderDateTime,
  searchTerm,
  statList,
  withQuery,
} from '../components.ts'
import { dataTable } from '../data-table.ts'
import type { SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { createdCursor, cursorPager, emptyState } from '../lists.ts'
import type { SignedInRequest } from '../session.ts'
import {
  appTable,
  decisionForm,
  decisionHistory,
  type DecisionOption,
  getCredits,
} from './components.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './layout.ts'

const rowsShown = 30

/** What may be decided about an agent. */
export const agentDecisions: Decision[] = ['suspend', 'unsuspend', 'pause', 'resume']

const pauseLabel = (by: NonNullable<Agent['pausedBy']>): string =>
  by === 'both' ? 'paused by its owner and the operator' : `paused by the ${by}`

const stateBadges = ({ closed, suspended, pausedBy }: Agent): Part => [
  closed !== null && badge('closed', 'bad'),
  suspended !== null && badge('suspended', 'bad'),
  pausedBy !== null && badge(pauseLabel(pausedBy)),
  closed === null && suspended === null && pausedBy === null && badge('active', 'good'),
]

/** Every agent, the newest first, or those whose handle has the words of the query in it. */
export async function agentsPage(signedIn: SignedInRequest): Promise<Page> {
  const { ctx, request } = signedIn
  const query = queryOf(request)
  const q = searchTerm(query, searchCharsMax)
  const found = await listAgents(ctx, rowsShown + 1, { q, after: createdCursor(query) })
  const { page, next } = pageOf(found, rowsShown, (one) => makeCursor(one.created, one.id))
  const owners = await namesOf(
    ctx,
    page.flatMap(({ owner }) => owner ?? []),
  )
  const credits = await Promise.all(page.map((agent) => getCredits(ctx, agentOwner(agent.id))))
  const row = (agent: Agent, at: number): Part[] => [
    html`<a href="/console/agents/${agent.handle}">@${agent.handle}</a>`,
    stateBadges(agent),
    html`<bdi>${agent.owner === null ? '–' : owners.get(agent.owner)}</bdi>`,
    credits[at],
    formatBytes(agent.storedBytes),
    renderDate(iso(agent.created)),
  ]
  const heads = ['Agent', 'State', 'Owner', { number: 'Credits' }, { number: 'Keeps' }, 'Made']
  const none =
    q === undefined
      ? emptyState('No agent yet', 'An agent makes itself, with the line on the front page.')
      : emptyState('No such agent', html`No handle has “<bdi>${q}</bdi>” in it.`)
  const main = html`${searchForm('/console/agents', 'Search by handle', q)}
  ${page.length > 0 ? dataTable('Agents', heads, page.map(row)) : none}
  ${cursorPager(query, '/console/agents', next, { q })}`
  return consolePage({ place: '/console/agents', title: 'Agents', main })
}

/** An agent, what it made and what was decided about it. Refuses not_found. */
export async function agentPage(
  signedIn: SignedInRequest,
  handle: string,
  message?: string,
  submitted?: SubmittedForm,
): Promise<Page> {
  const known = await agentCaseOf(signedIn.ctx, handle)
  if (!known) throw new ApiError('not_found', { what: 'agent' })
  const { agent, made, decided } = known
  const owner = agent.owner && (await namesOf(signedIn.ctx, [agent.owner])).get(agent.owner)
  const offers: DecisionOption[] = [
    agent.suspended === null ? ['suspend', 'Suspend'] : ['unsuspend', 'Let it go on'],
    isPausedByOperator(agent) ? ['resume', 'Let it buy'] : ['pause', 'Pause'],
  ]
  const asked = {
    action: `/console/agents/${agent.handle}`,
    hint: 'A suspension needs one: the agent is told. Paused, it can buy nothing.',
    why: submitted?.text('why'),
  }
  const main = html`<p class="lead">
      ${stateBadges(agent)} ${owner ? html`Owned by <bdi>${owner}</bdi>` : 'Claimed by nobody'} ·
      since ${renderDate(iso(agent.created))}
    </p>
    ${
      agent.suspended !== null &&
      html`<p>
        Suspended since ${renderDateTime(iso(agent.suspended))}: <bdi>${agent.suspendedFor}</bdi>
      </p>`
    }
    ${statList([
      ['Credits', await getCredits(signedIn.ctx, agentOwner(agent.id))],
      ['Keeps', formatBytes(agent.storedBytes)],
    ])}
    <p class="acts">
      <a class="button quiet" href="${withQuery('/console/grants', { to: `@${agent.handle}` })}"
        >Give credits</a
      >
    </p>
    <section>
      <h2>Decide</h2>
      ${agent.closed === null ? decisionForm(signedIn.token, asked, offers) : html`<p class="small">The account is closed for good.</p>`}
    </section>
    <section>
      <h2>Newest apps</h2>
      ${made.length > 0 ? appTable(made) : html`<p class="small">It has made nothing yet.</p>`}
    </section>
    ${decisionHistory(decided)}`
  return consolePage({ place: '/console/agents', title: `@${agent.handle}`, message, main })
}
