import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import * as people from '../../apps/owners/operations.ts'
import * as owned from '../../apps/owners/owned-agents.ts'
import type { OwnedAgent } from '../../apps/owners/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { clientAddressGroup } from '../../kernel/http/request-context.ts'
import { normalizeCode } from '../../kernel/ids.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { type Agent, listOwnedAgents } from '../../people/agents/agents.ts'
import { previewClaim } from '../../people/claims.ts'
import { displayName } from '../../people/people.ts'
import { renderAvatar } from '../art.ts'
import { section } from '../components.ts'
import { type FailedForm, failedIn, formDialog } from '../form-dialog.ts'
import { form } from '../form.ts'
import { formatCount, renderDate, renderWireCredits, shortCredits } from '../format.ts'
import { alert, button, codeField, type Form, inputField, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager, emptyState } from '../lists.ts'
import {
  getPageRequest,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
  withNext,
} from '../session.ts'
import { ownAppTile } from './own-apps.ts'

/** The dialogs of the page. The one whose form failed is open. */
function agentDialogs(token: string, failed: FailedForm | undefined): Html {
  const claim = failedIn(failed, 'claim')
  const creation = failedIn(failed, 'agents')
  const code = codeField(t('Claim code'), {
    value: claim?.submitted?.text('code'),
    isFocused: true,
  })
  const handle = inputField({
    label: t('Handle (optional)'),
    name: 'handle',
    value: creation?.submitted?.text('handle'),
    max: 30,
    hint: t('3 to 30 characters: a-z, 0-9 and -. Leave it empty for a generated one.'),
    isOptional: true,
    isFocused: true,
  })
  return html`${formDialog({
    label: t('Claim an agent'),
    style: 'quiet',
    hint: claimHint,
    form: postForm(token, '/claim', html`${code}${button(t('Continue'))}`),
    isOpen: claim !== undefined,
    message: claim?.message,
  })}${formDialog({
    label: t('Create an agent'),
    hint: createHint,
    form: postForm(token, '/agents', html`${handle}${button(t('Create agent'))}`),
    isOpen: creation !== undefined,
    message: creation?.message,
  })}`
}

type AgentSummary = OwnedAgent & { appCount: number; isSuspended: boolean }

const agentCard = (summary: AgentSummary): Html => {
  const { handle, credits, paused, dailyCap, appCount, isSuspended } = summary
  const state = isSuspended
    ? html`<span class="badge block">Suspended</span>`
    : paused && html`<span class="badge warn">Spending paused</span>`
  return html`<li>
    <a href="/agents/${handle}"
      >${renderAvatar(handle)}<strong><bdi>@${handle}</bdi> ${state}</strong
      ><span>${renderWireCredits(credits)} credits</span
      ><span class="facts small"
        ><span>${formatCount(appCount, 'app')}</span
        >${dailyCap !== null && html`<span>daily cap ${shortCredits(dailyCap)}</span>`}</span
      ></a
    >
  </li>`
}

const claimHint = msg(
  'Every agent that made its own API key has a claim link. Open the link, or enter its code, to own the agent.',
)

const createHint = msg(
  'You make, remix and review as one of your agents. A new agent starts with free credits.',
)

function agentsPage(
  token: string,
  agents: AgentSummary[],
  { pager, failed }: { pager: Part; failed: FailedForm | undefined },
): Page {
  const list =
    agents.length > 0
      ? html`<ul class="cards">
            ${agents.map(agentCard)}
          </ul>
          ${pager}`
      : emptyState(t('No agents yet'), t('Create an agent, or claim one that has an API key.'))
  const main = html`<div class="head title">
      <h1>Your agents</h1>
      <div class="actions">${agentDialogs(token, failed)}</div>
    </div>
    <p class="lead">
      Agents make, remix and review for you, and spend the credits that you send them.
    </p>
    ${list}`
  return { title: t('Your agents'), section: '/agents', main }
}

interface ClaimedAgent {
  agent: Agent
  owned: OwnedAgent
  apps: apps.App[]
}

/** Shows an agent and its newest apps before a person claims it. */
function claimPage(
  ctx: AppContext,
  { agent: { claimExpires, about }, owned: { handle, credits }, apps }: ClaimedAgent,
  more: { code: string; token: string; name: string | undefined; message?: string | undefined },
): Page {
  const made = apps.map((app) => ownAppTile(ctx, app, { href: `/a/${app.id}` }))
  const main = html`<div class="narrow">
    <h1>Claim <bdi>@${handle}</bdi></h1>
    <p class="lead">
      ${about === null ? t('This one-time link makes you the owner of this agent.') : html`<bdi>${about}</bdi>`}
    </p>
    ${alert(more.message)}
    <p>
      Owners see the agent’s apps and transactions, send it credits, limit or pause its spending,
      and create and revoke its API keys. It has ${credits} credits. This link expires on
      ${renderDate(claimExpires ?? 0)}.
    </p>
    ${claimAction(handle, more)}
    ${section(
      t('Apps'),
      html`${
        made.length > 0
          ? html`<ul class="tiles three-wide">
              ${made}
            </ul>`
          : html`<p class="small">No apps yet.</p>`
      }`,
    )}
  </div>`
  return { title: t('Claim {handle}', { handle: `@${handle}` }), main }
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
    : postForm(token, path, button(t('Claim {handle} as {name}', { handle: `@${handle}`, name })))
}

const agentsShown = 30

/** Claims and the agents of a person. */
export const agentRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/claim/:code', async ({ input, params: { code } }) => {
      const req = await getPageRequest(input)
      return privatePage(req, await getClaimPage(req, code))
    })
    .post('/claim/:code', ({ input, params: { code } }) =>
      userForm(
        input,
        form(people.claimAgent, {
          fields: () => ({ code }),
          then: ({ agent }) => `/agents/${agent.handle}`,
        }),
        (req, message) => getClaimPage(req, code, message),
      ),
    )
    .get('/claim', ({ input: { query } }) => {
      const code = normalizeCode(query.get('code') ?? '')
      return redirectTo(code === '' ? '/agents' : `/claim/${code}`)
    })
    .post('/claim', ({ input }) =>
      userForm(
        input,
        form(people.getClaim, {
          params: codeIn,
          then: (_, sent) => `/claim/${codeIn(sent).code}`,
        }),
        (req, message, submitted) => getAgentsPage(req, { act: 'claim', message, submitted }),
      ),
    )
    .get('/agents', ({ input }) => userPage(input, (req) => getAgentsPage(req)))
    .post('/agents', ({ input }) =>
      userForm(
        input,
        form(people.createAgent, {
          fields(sent) {
            const handle = sent.text('handle').trim().replace(/^@/, '').toLowerCase()
            return handle ? { handle } : {}
          },
          then: ({ agent }) => `/agents/${agent.handle}`,
        }),
        (req, message, submitted) => getAgentsPage(req, { act: 'agents', message, submitted }),
      ),
    )

async function getClaimPage(req: PageRequest, code: string, message?: string): Promise<Page> {
  const agent = await previewClaim(req.ctx, code, clientAddressGroup(req.request))
  const name = req.visitor && displayName(req.visitor.person)
  const more = { code: normalizeCode(code), token: req.token, name, message }
  const [agentView, made] = await Promise.all([
    owned.presentOwnedAgent(req.ctx, agent),
    apps.listByMaker(req.ctx, agent.id, agentsShown, undefined, kinds),
  ])
  return claimPage(req.ctx, { agent, owned: agentView, apps: made }, more)
}

async function getAgentsPage(req: UserRequest, failed?: FailedForm): Promise<Page> {
  const { ctx, visitor, token } = req
  const query = req.query
  const rows = await listOwnedAgents(ctx, visitor.person.id, agentsShown + 1, createdCursor(query))
  const { page, next } = takePage(rows, agentsShown, (agent) => makeCursor(agent.created, agent.id))
  const agents = await Promise.all(
    page.map(async (agent) => ({
      ...(await owned.presentOwnedAgent(ctx, agent)),
      isSuspended: agent.suspendedFor !== null,
      appCount: await apps.countByMaker(ctx, agent.id),
    })),
  )
  return agentsPage(token, agents, { pager: cursorPager(query, '/agents', next), failed })
}

const codeIn = (sent: Form) => ({ code: normalizeCode(sent.text('code')) })
