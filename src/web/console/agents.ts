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
import type { Page } from '../layout.ts'
import { cursorPager, empty, madeIn } from '../lists.ts'
import { addressOf, dayOf, momentOf, numbers, queryOf, sizeOf, wordsIn } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import type { Form } from '../people/form.ts'
import { table } from '../table.ts'
import { badge, consolePage, searchForm, wordsMax } from './frame.ts'
import { appTable, creditsOf, decisionForm, decisions, type Offer } from './parts.ts'

const rowsShown = 30

/** What may be decided about an agent. */
export const agentDecisions: Decision[] = ['suspend', 'unsuspend', 'pause', 'resume']

const pauserOf = (by: NonNullable<Agent['pausedBy']>): string =>
  by === 'both' ? 'paused by its owner and the operator' : `paused by the ${by}`

const stateBadges = ({ closed, suspended, pausedBy }: Agent): Part => [
  closed !== null && badge('closed', 'bad'),
  suspended !== null && badge('suspended', 'bad'),
  pausedBy !== null && badge(pauserOf(pausedBy)),
  closed === null && suspended === null && pausedBy === null && badge('active', 'good'),
]

/** Every agent, the newest first, or those whose handle has the words of the query in it. */
export async function agentsPage(own: Own): Promise<Page> {
  const { ctx, request } = own
  const query = queryOf(request)
  const q = wordsIn(query, wordsMax)
  const found = await listAgents(ctx, rowsShown + 1, { q, after: madeIn(query) })
  const { page, next } = pageOf(found, rowsShown, (one) => makeCursor(one.created, one.id))
  const owners = await namesOf(
    ctx,
    page.flatMap(({ owner }) => owner ?? []),
  )
  const credits = await Promise.all(page.map((agent) => creditsOf(ctx, agentOwner(agent.id))))
  const row = (agent: Agent, at: number): Part[] => [
    html`<a href="/console/agents/${agent.handle}">@${agent.handle}</a>`,
    stateBadges(agent),
    html`<bdi>${agent.owner === null ? '–' : owners.get(agent.owner)}</bdi>`,
    credits[at],
    sizeOf(agent.kept),
    dayOf(iso(agent.created)),
  ]
  const heads = ['Agent', 'State', 'Owner', { number: 'Credits' }, { number: 'Keeps' }, 'Made']
  const none =
    q === undefined
      ? empty('No agent yet', 'An agent makes itself, with the line on the front page.')
      : empty('No such agent', html`No handle has “<bdi>${q}</bdi>” in it.`)
  const main = html`${searchForm('/console/agents', 'Search by handle', q)}
  ${page.length > 0 ? table('Agents', heads, page.map(row)) : none}
  ${cursorPager(query, '/console/agents', next, { q })}`
  return consolePage({ place: '/console/agents', title: 'Agents', main })
}

/** An agent, what it made and what was decided about it. Refuses not_found. */
export async function agentPage(
  own: Own,
  handle: string,
  said?: string,
  sent?: Form,
): Promise<Page> {
  const known = await agentCaseOf(own.ctx, handle)
  if (!known) throw new ApiError('not_found', { what: 'agent' })
  const { agent, made, decided } = known
  const owner = agent.owner && (await namesOf(own.ctx, [agent.owner])).get(agent.owner)
  const offers: Offer[] = [
    agent.suspended === null ? ['suspend', 'Suspend'] : ['unsuspend', 'Let it go on'],
    isPausedByOperator(agent) ? ['resume', 'Let it buy'] : ['pause', 'Pause'],
  ]
  const asked = {
    action: `/console/agents/${agent.handle}`,
    hint: 'A suspension needs one: the agent is told. Paused, it can buy nothing.',
    why: sent?.text('why'),
  }
  const main = html`<p class="lead">
      ${stateBadges(agent)} ${owner ? html`Owned by <bdi>${owner}</bdi>` : 'Claimed by nobody'} ·
      since ${dayOf(iso(agent.created))}
    </p>
    ${
      agent.suspended !== null &&
      html`<p>
        Suspended since ${momentOf(iso(agent.suspended))}: <bdi>${agent.suspendedFor}</bdi>
      </p>`
    }
    ${numbers([
      ['Credits', await creditsOf(own.ctx, agentOwner(agent.id))],
      ['Keeps', sizeOf(agent.kept)],
    ])}
    <p class="acts">
      <a class="button quiet" href="${addressOf('/console/grants', { to: `@${agent.handle}` })}"
        >Give credits</a
      >
    </p>
    <section>
      <h2>Decide</h2>
      ${agent.closed === null ? decisionForm(own.token, asked, offers) : html`<p class="small">The account is closed for good.</p>`}
    </section>
    <section>
      <h2>Newest apps</h2>
      ${made.length > 0 ? appTable(made) : html`<p class="small">It has made nothing yet.</p>`}
    </section>
    ${decisions(decided)}`
  return consolePage({ place: '/console/agents', title: `@${agent.handle}`, said, main })
}
