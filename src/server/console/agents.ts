import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { type Agent, listAgents } from '../../people/agents/agents.ts'
import { isPausedByOperator } from '../../people/agents/spending.ts'
import { namesOf } from '../../people/people.ts'
import { searchTerm, section } from '../../site/components.ts'
import { formatBytes, renderDate } from '../../site/format.ts'
import type { Form } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  type Column,
  createdCursor,
  cursorPager,
  dataTable,
  emptyState,
  usual,
} from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findAgentCase } from '../operator/cases.ts'
import { decideAbout, decidedNotice } from './access.ts'
import { decisionHistory } from './audit.ts'
import {
  accountSummary,
  appTable,
  badge,
  consolePage,
  decisionForm,
  type DecisionOption,
  getCredits,
  searchCharsMax,
  searchForm,
} from './components.ts'

const rowsShown = 30

const pauseLabel = (by: NonNullable<Agent['pausedBy']>): string =>
  by === 'both' ? t('paused by its owner and the operator') : t('paused by the {by}', { by })

const isActive = ({ closed, suspended, pausedBy }: Agent): boolean =>
  closed === null && suspended === null && pausedBy === null

const stateBadges = ({ closed, suspended, pausedBy }: Agent): Part => [
  closed !== null && badge('closed', 'bad'),
  suspended !== null && badge('suspended', 'bad'),
  pausedBy !== null && badge(pauseLabel(pausedBy)),
]

/** Renders agents, newest first, filtered by handle. Throws `bad_request`. */
export async function agentsPage(req: UserRequest): Promise<Page> {
  const { ctx, query } = req
  const q = searchTerm(query, searchCharsMax)
  const found = await listAgents(ctx, rowsShown + 1, { q, after: createdCursor(query) })
  const { page, next } = takePage(found, rowsShown, (one) => makeCursor(one.created, one.id))
  const ownerIds = page.flatMap(({ owner }) => owner ?? [])
  const owners = await namesOf(ctx, ownerIds)
  const credits = await Promise.all(page.map((agent) => getCredits(ctx, agentOwner(agent.id))))
  const row = (agent: Agent, at: number) => [
    html`<a href="/console/agents/${agent.handle}"><bdi>@${agent.handle}</bdi></a>`,
    isActive(agent) ? usual(t('active')) : stateBadges(agent),
    agent.owner === null ? '–' : html`<bdi>${owners.get(agent.owner)}</bdi>`,
    credits[at],
    formatBytes(agent.storedBytes),
    renderDate(agent.created),
  ]
  const heads: Column[] = [
    t('Agent'),
    { text: t('State'), onPhone: 'plain' },
    t('Owner'),
    { number: t('Credits'), onPhone: 'figure' },
    { number: t('Storage') },
    t('Created'),
  ]
  const none =
    q === undefined
      ? emptyState(t('No agents yet'), t('Agents register with the prompt on the home page.'))
      : emptyState(t('No agents found'), html`No handle contains “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/agents', t('Search by handle'), q)}
  ${dataTable(t('Agents'), heads, page.map(row), none)}
  ${cursorPager(query, '/console/agents', next, { q })}`
  return consolePage({ place: '/console/agents', title: t('Agents'), main })
}

/** Renders an agent with its decisions. Throws `not_found`. */
export async function agentPage(
  req: UserRequest,
  handle: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const known = await findAgentCase(req.ctx, handle)
  if (!known) throw new ApiError('not_found', { what: 'agent' })
  const { agent, apps: agentApps, decisions } = known
  const owner = agent.owner && (await namesOf(req.ctx, [agent.owner])).get(agent.owner)
  const options: DecisionOption[] = [
    agent.suspended === null ? ['suspend', t('Suspend')] : ['unsuspend', t('Unsuspend')],
    isPausedByOperator(agent) ? ['resume', t('Resume spending')] : ['pause', t('Pause spending')],
  ]
  const decision = {
    action: `/console/agents/${agent.handle}`,
    hint: t(
      'Required for a suspension. The agent receives it. A paused agent cannot spend credits.',
    ),
    why: submitted?.text('why'),
    error: message,
  }
  const stats: [string, Part][] = [
    [t('Credits'), await getCredits(req.ctx, agentOwner(agent.id))],
    [t('Storage'), formatBytes(agent.storedBytes)],
  ]
  const main = html`${decidedNotice(req, decision.action)}
    <p class="lead">
      ${stateBadges(agent)} ${owner ? html`Owned by <bdi>${owner}</bdi>` : t('Unclaimed')} · Created
      ${renderDate(agent.created)}
    </p>
    ${accountSummary(agent, stats, `@${agent.handle}`)}
    ${section(t('Actions'), html`${agent.closed === null ? decisionForm(req.token, decision, options) : html`<p class="small">This account is closed.</p>`}`)}
    ${section(t('Latest apps'), appTable(agentApps))} ${decisionHistory(decisions)}`
  // The form shows the error; a closed account has none.
  const pageMessage = agent.closed === null ? undefined : message
  const title = `@${agent.handle}`
  return consolePage({ place: '/console/agents', title, message: pageMessage, main })
}

export const decideAgent = (handle: string) =>
  decideAbout(
    ['suspend', 'unsuspend', 'pause', 'resume'],
    () => `@${handle}`,
    `/console/agents/${handle}`,
  )
