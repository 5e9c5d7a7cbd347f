import { isOnExplore } from '../../apps/explore/explore.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { lastDays } from '../../kernel/time.ts'
import { t } from '../../kernel/words/message.ts'
import { list as listKeys } from '../../money/keys/keys.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { listDailySpending } from '../../money/ledger/reports.ts'
import { type Agent, listAgents } from '../../people/agents/agents.ts'
import { isPausedByOperator } from '../../people/agents/spending.ts'
import { namesOf } from '../../people/people.ts'
import { spendingChart } from '../../site/chart.ts'
import { searchTerm, section } from '../../site/components.ts'
import { formatBytes, formatCompact, renderDate } from '../../site/format.ts'
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
  appTable,
  badge,
  consolePage,
  type Fact,
  factLines,
  getCredits,
  grantLink,
  ownerLink,
  searchCharsMax,
  searchForm,
  suspensionFact,
} from './components.ts'
import { decisionList, type DecisionOption, failedDecision } from './decisions.ts'
import { accountKeysPath } from './keys.ts'

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
  const none =
    q === undefined
      ? emptyState(t('No agents yet'), t('Agents register with the prompt on the home page.'))
      : emptyState(t('No agents found'), html`No handle contains “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/agents', t('Search by handle'), q)}
  ${await agentTable(ctx, page, none, owners)} ${cursorPager(query, '/console/agents', next, { q })}`
  return consolePage({ place: '/console/agents', title: t('Agents'), main })
}

/** A table of agents, with their owners where those are given by id. */
export async function agentTable(
  ctx: AppContext,
  agents: Agent[],
  none: Part,
  owners?: Map<string, string>,
): Promise<Part> {
  const credits = await Promise.all(agents.map((agent) => getCredits(ctx, agentOwner(agent.id))))
  const ownerOf = ({ owner }: Agent): Part => {
    const name = owner === null ? undefined : owners?.get(owner)
    return name === undefined ? '–' : ownerLink(name)
  }
  const row = (agent: Agent, at: number) => [
    html`<a href="/console/agents/${agent.handle}"><bdi>@${agent.handle}</bdi></a>`,
    isActive(agent) ? usual(t('active')) : stateBadges(agent),
    ...(owners ? [ownerOf(agent)] : []),
    credits[at],
    formatBytes(agent.storedBytes),
    renderDate(agent.created),
  ]
  const heads: Column[] = [
    t('Agent'),
    { text: t('State'), onPhone: 'plain' },
    ...(owners ? [t('Owner')] : []),
    { number: t('Credits'), onPhone: 'figure' },
    { number: t('Storage') },
    t('Created'),
  ]
  return dataTable(t('Agents'), heads, agents.map(row), none)
}

const daysShown = 30

/** Renders an agent with its facts, apps, history and decisions. Throws `not_found`. */
export async function agentPage(
  req: UserRequest,
  handle: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx } = req
  const known = await findAgentCase(ctx, handle)
  if (!known) throw new ApiError('not_found', { what: 'agent' })
  const { agent, apps: agentApps, decisions } = known
  const action = `/console/agents/${agent.handle}`
  const failed = failedDecision(submitted, message)
  const options = agent.closed === null ? decisionOptions(agent) : []
  const isShown = options.some(({ name }) => name === failed?.name)
  const days = lastDays(ctx.clock, daysShown)
  const spent = await listDailySpending(ctx, days, agent.id)
  const main = html`${decidedNotice(req, action)}${factLines(await agentFacts(ctx, agent))}
  ${spent.some(({ amount }) => amount > 0n) && section(t('Spending of 30 days'), spendingChart(spent))}
  ${section(t('Latest apps'), appTable(agentApps))} ${decisionHistory(decisions)}
  ${section(t('Actions'), agent.closed === null ? decisionList(req.token, { action, failed }, options) : html`<p class="small">This account is closed.</p>`)}`
  return consolePage({
    place: '/console/agents',
    title: `@${agent.handle}`,
    above: [['/console/agents', t('Agents')]],
    action: grantLink(`@${agent.handle}`),
    message: isShown ? undefined : message,
    main,
  })
}

async function agentFacts(ctx: AppContext, agent: Agent): Promise<Fact[]> {
  const owner = agent.owner && (await namesOf(ctx, [agent.owner])).get(agent.owner)
  const keys = await listKeys(ctx.db.read, agent.id)
  const [page, account] = [`/explore/@${agent.handle}`, accountKeysPath(`@${agent.handle}`)]
  return [
    [t('State'), isActive(agent) ? t('active') : stateBadges(agent)],
    ...suspensionFact(agent),
    [t('Owner'), owner ? ownerLink(owner) : t('Unclaimed')],
    ...((await isOnExplore(ctx, agent))
      ? [[t('Public page'), html`<a href="${page}"><bdi>@${agent.handle}</bdi></a>`] as const]
      : []),
    [
      t('Balance'),
      html`${await getCredits(ctx, agentOwner(agent.id))}
        <span class="small">${t('credits')}</span>`,
    ],
    [t('API keys'), html`<a href="${account}">${formatCompact(keys.length)}</a>`],
    [t('Storage'), formatBytes(agent.storedBytes)],
    [t('Created'), renderDate(agent.created)],
  ]
}

/** A decision and the one that undoes it. */
function decisionOptions(agent: Agent): DecisionOption[] {
  const suspension: DecisionOption =
    agent.suspended === null
      ? {
          name: 'suspend',
          label: t('Suspend'),
          effect: t('Its keys stop working, and its apps are quarantined.'),
          reason: t('The agent receives it.'),
          isRequired: true,
          isDestructive: true,
        }
      : {
          name: 'unsuspend',
          label: t('Unsuspend'),
          effect: t('Its keys work again, and its apps are public again.'),
        }
  const spending: DecisionOption = isPausedByOperator(agent)
    ? {
        name: 'resume',
        label: t('Resume spending'),
        effect: t('It can spend credits again, unless its owner paused it.'),
      }
    : {
        name: 'pause',
        label: t('Pause spending'),
        effect: t('It cannot spend credits until you resume it. Its apps stay public.'),
        isDestructive: true,
      }
  return [spending, suspension]
}

export const decideAgent = (handle: string) =>
  decideAbout(
    ['suspend', 'unsuspend', 'pause', 'resume'],
    () => `@${handle}`,
    `/console/agents/${handle}`,
  )
