import { isOnExplore } from '../../apps/explore/explore.ts'
import * as owned from '../../apps/owners/owned-agents.ts'
import type { OwnedAgent } from '../../apps/owners/schemas.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { toCredits } from '../../kernel/money.ts'
import { msg, t } from '../../kernel/words/message.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { type Agent, suspensionError } from '../../people/agents/agents.ts'
import { isPausedByOperator } from '../../people/agents/spending.ts'
import { describeError } from '../../people/error-response.ts'
import { walletOf } from '../../people/people.ts'
import { renderAvatar } from '../art.ts'
import { trail } from '../components.ts'
import { type FailedForm, failedIn, formDialog } from '../form-dialog.ts'
import { renderDate, shortCredits } from '../format.ts'
import { alert, button, hiddenField, inputField, notice, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { tabNav } from '../lists.ts'
import type { UserRequest } from '../session.ts'

/** Explains a suspension to the agent's owner. */
export const suspensionMessage = (agent: Pick<Agent, 'suspendedFor'>): string | undefined =>
  agent.suspendedFor === null ? undefined : describeError(suspensionError(agent))?.message

/** The names of the pages of an agent by the last segment of their path. */
export const agentTabs = {
  '': msg('Overview'),
  apps: msg('Apps'),
  ledger: msg('Transactions'),
  keys: msg('API keys'),
  notes: msg('Notifications'),
  settings: msg('Settings'),
} as const

export type AgentTab = keyof typeof agentTabs

export const agentPath = ({ handle }: Pick<Agent, 'handle'>, name = ''): string =>
  name === '' ? `/agents/${handle}` : `/agents/${handle}/${name}`

/** A request for a page of an agent by its owner. */
export interface OwnAgent {
  req: UserRequest
  agent: Agent
  facts: OwnedAgent
  /** The balance of the person's wallet in credits. */
  wallet: number
  /** Others can open its page: it has an item on Explore. */
  hasPublicPage: boolean
  /** The form that failed. */
  failed: FailedForm | undefined
}

/** Reads an agent of the person. Throws `not_found`. */
export async function readOwnAgent(
  req: UserRequest,
  handle: string,
  failed?: FailedForm,
): Promise<OwnAgent> {
  const { ctx, visitor } = req
  const agent = await owned.getOwnedAgent(ctx, visitor.person, handle)
  const [facts, wallet, hasPublicPage] = await Promise.all([
    owned.presentOwnedAgent(ctx, agent),
    ledger.balanceOf(ctx, walletOf(visitor.person)),
    isOnExplore(ctx, agent),
  ])
  return { req, agent, facts, wallet: toCredits(wallet.available), hasPublicPage, failed }
}

function doneMessage({ req, facts }: OwnAgent): Part {
  const words = new Map([
    [
      'credits',
      t('Credits sent. New balance: {credits} credits.', { credits: shortCredits(facts.credits) }),
    ],
    ['cap', t('Daily cap updated.')],
    ['pause', facts.paused ? t('Spending paused.') : t('Spending resumed.')],
    ['keys', t('API key revoked.')],
  ])
  return words.get(req.query.get('done') ?? '')
}

/** The dialog that sends credits of the wallet. */
function creditsDialog({ req: { token }, agent, wallet, failed }: OwnAgent): Html {
  const sent = failedIn(failed, 'credits')
  const ref = sent?.submitted?.text('ref') || newId()
  const credits = inputField({
    label: t('Credits'),
    name: 'credits',
    type: 'number',
    hint: t('Wallet balance: {wallet} credits.', { wallet: shortCredits(wallet) }),
    value: sent?.submitted?.text('credits'),
    isFocused: true,
  })
  const fields = html`${hiddenField('ref', ref)}${credits}${button(t('Send credits'))}`
  return formDialog({
    label: t('Send credits'),
    title: t('Send credits to {handle}', { handle: `@${agent.handle}` }),
    form: postForm(token, agentPath(agent, 'credits'), fields),
    isOpen: sent !== undefined,
    message: sent?.message,
  })
}

/** The state of an agent, and the button that pauses or resumes its spending. */
function spendingState({ req: { token }, agent, facts }: OwnAgent): { badge: Part; act: Part } {
  const isStopped = isPausedByOperator(agent)
  const fields = html`${hiddenField('paused', facts.paused ? 'no' : 'yes')}${button(facts.paused ? t('Resume spending') : t('Pause spending'), 'quiet')}`
  const badge =
    agent.suspended !== null
      ? html`<span class="badge block">Suspended</span>`
      : facts.paused
        ? html`<span class="badge warn">Spending paused</span>`
        : html`<span class="badge">Active</span>`
  return { badge, act: !isStopped && postForm(token, agentPath(agent, 'pause'), fields, 'act') }
}

function header(own: OwnAgent): Html {
  const { agent, facts, hasPublicPage } = own
  const { badge, act } = spendingState(own)
  return html`${trail(['/agents', t('Your agents')])}
    <header class="agent-head">
      ${renderAvatar(agent.handle)}
      <div>
        <div class="agent-name">
          <h1><bdi>@${agent.handle}</bdi></h1>
          ${badge}
        </div>
        ${agent.about !== null && html`<p><bdi>${agent.about}</bdi></p>`}
        <p class="facts small">
          ${hasPublicPage && html`<span><a href="/explore/@${agent.handle}">Public page</a></span>`}<span
            >Since ${renderDate(facts.created)}</span
          >
        </p>
      </div>
      <div class="actions">${creditsDialog(own)}${act}</div>
    </header>`
}

/** Renders a page of an agent. Errors of forms that stand in a dialog of `main` are there. */
export function agentPage(own: OwnAgent, tab: AgentTab, main: Part): Page {
  const { agent, failed } = own
  const pages = Object.entries(agentTabs).map(
    ([name, title]) => [agentPath(agent, name), title] as const,
  )
  const isInDialog = failedIn(failed, 'credits') ?? failedIn(failed, 'keys')
  const title = `@${agent.handle}`
  return {
    title: tab === '' ? title : `${agentTabs[tab]} · ${title}`,
    section: '/agents',
    main: html`${header(own)} ${tabNav(t('Agent'), pages, agentPath(agent, tab))}
    ${alert(suspensionMessage(agent))} ${alert(isInDialog ? undefined : failed?.message)}
    ${isPausedByOperator(agent) && notice(t('The operator paused spending. Only the operator can resume it.'))}
    ${notice(doneMessage(own))} ${main}`,
  }
}
