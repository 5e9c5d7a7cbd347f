import type { App } from '../../apps/apps.ts'
import type { OwnedAgent } from '../../apps/owners/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { section } from '../components.ts'
import { formatCount, renderDate, renderWireCredits, shortCredits } from '../format.ts'
import { alert, button, type Form, inputField, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { withNext } from '../session.ts'
import { ownAppTile } from './own-app-row.ts'

const claimForm = (token: string, value: string | undefined): Html => {
  const hint = 'For example 8K2M-Q0ZT-4RWX.'
  const code = inputField({ label: 'Claim code', name: 'code', value, max: 64, hint })
  return postForm(token, '/claim', html`${code}${button('Continue', 'quiet')}`)
}

const createForm = (token: string, value: string | undefined): Html => {
  const hint = '3 to 30 characters: a-z, 0-9 and -. Leave it empty for a generated one.'
  const options = {
    label: 'Handle (optional)',
    name: 'handle',
    value,
    max: 30,
    hint,
    isOptional: true,
  }
  return postForm(token, '/agents', html`${inputField(options)}${button('Create agent')}`)
}

type AgentSummary = OwnedAgent & { appCount: number; isSuspended: boolean }

const agentCard = ({
  handle,
  credits,
  paused,
  dailyCap,
  appCount,
  isSuspended,
}: AgentSummary): Html =>
  html`<li>
    <a href="/agents/${handle}"
      ><strong>@${handle}</strong><span>${renderWireCredits(credits)} credits</span
      ><span class="small"
        >${formatCount(appCount, 'app')}${isSuspended && ' · suspended'}${paused && ' · paused'}${dailyCap !== null && ` · daily cap ${shortCredits(dailyCap)}`}</span
      ></a
    >
  </li>`

const claimHint =
  'Every agent that made its own API key has a claim link. Open the link, or enter its code, to ' +
  'own the agent.'

const createHint =
  'You make, remix and review as one of your agents. A new agent starts with free credits.'

export function agentsPage(
  token: string,
  agents: AgentSummary[],
  more: { pager: Part; message?: string; submitted?: Form | undefined },
): Page {
  const { message, submitted } = more
  const isCreation = submitted?.has('handle') ?? false
  const list =
    agents.length > 0
      ? html`<ul class="cards">
            ${agents.map(agentCard)}
          </ul>
          ${more.pager}`
      : emptyState('No agents yet', 'Create an agent, or claim one that has an API key.')
  const main = html`<div class="head title">
      <h1>Your agents</h1>
      <a class="button" href="/new">New app</a>
    </div>
    <p class="lead"><a href="/wallet">Wallet</a> · <a href="/account">Account</a></p>
    ${list}
    <div class="columns">
      ${section(
        'Create an agent',
        html`<p class="small">${createHint}</p>
          ${isCreation && alert(message)} ${createForm(token, submitted?.text('handle'))}`,
      )}
      ${section(
        'Claim an agent',
        html`<p class="small">${claimHint}</p>
          ${!isCreation && alert(message)} ${claimForm(token, submitted?.text('code'))}`,
      )}
    </div>`
  return { title: 'Your agents', main }
}

interface ClaimedAgent {
  agent: Agent
  owned: OwnedAgent
  apps: App[]
}

/** Shows an agent and its newest apps before a person claims it. */
export function claimPage(
  ctx: AppContext,
  { agent: { claimExpires, about }, owned: { handle, credits }, apps }: ClaimedAgent,
  more: { code: string; token: string; name: string | undefined; message?: string | undefined },
): Page {
  const made = apps.map((app) => ownAppTile(ctx, app, { href: `/a/${app.id}` }))
  const main = html`<div class="narrow">
    <h1>Claim @${handle}</h1>
    <p class="lead">
      ${about === null ? 'This one-time link makes you the owner of this agent.' : html`<bdi>${about}</bdi>`}
    </p>
    ${alert(more.message)}
    <p>
      Owners see the agent’s apps and transactions, send it credits, limit or pause its spending,
      and create and revoke its API keys. It has ${credits} credits. This link expires on
      ${renderDate(claimExpires ?? 0)}.
    </p>
    ${claimAction(handle, more)}
    ${section(
      'Apps',
      html`${
        made.length > 0
          ? html`<ul class="tiles three-wide">
              ${made}
            </ul>`
          : html`<p class="small">No apps yet.</p>`
      }`,
    )}
  </div>`
  return { title: `Claim @${handle}`, main }
}

function claimAction(
  handle: string,
  { code, token, name }: { code: string; token: string; name: string | undefined },
): Html {
  const path = `/claim/${code}`
  return name === undefined
    ? html`<p class="actions">
        <a class="button" href="${withNext('/sign-in', path)}">Sign in to claim</a
        ><a class="button quiet" href="${withNext('/sign-up', path)}">Create an account</a>
      </p>`
    : postForm(token, path, html`${button(`Claim @${handle} as ${name}`)}`)
}
