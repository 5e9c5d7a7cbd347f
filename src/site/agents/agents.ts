import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import * as people from '../../apps/owners/operations.ts'
import * as owned from '../../apps/owners/owned-agents.ts'
import type { OwnedAgent } from '../../apps/owners/schemas.ts'
import { presentItem } from '../../apps/present.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { clientAddressGroup } from '../../kernel/http/request-context.ts'
import { newId, normalizeCode } from '../../kernel/ids.ts'
import { toCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import { lastDays } from '../../kernel/time.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { listDailySpending, listEntries } from '../../money/ledger/reports.ts'
import { type Agent, listOwnedAgents } from '../../people/agents/agents.ts'
import { listAgentKeys } from '../../people/agents/keys.ts'
import { previewClaim } from '../../people/claims.ts'
import * as notes from '../../people/notifications/notifications.ts'
import { displayName, walletOf } from '../../people/people.ts'
import { renderAvatar } from '../art.ts'
import { section } from '../components.ts'
import { form } from '../form.ts'
import { formatCount, renderDate, renderWireCredits, shortCredits } from '../format.ts'
import { alert, button, type Form, inputField, postForm, readCredits } from '../forms.ts'
import { keyPage, refOf } from '../key-form.ts'
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
import { itemCover } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import { agentPage } from './agent.ts'

const states = {
  live: '',
  building: msg('building'),
  taken_down: msg('taken down'),
  closed: msg('deleted'),
}

/** Facts about an item for its owner. */
export function ownAppFacts(ctx: AppContext, app: apps.App): string[] {
  const { kind, state, listed, opens, version } = presentItem(ctx, app)
  const place = listed === 'on' ? t('on Explore') : ''
  const facts = [
    wireWord(kind),
    t(states[state]),
    t('version {version}', { version }),
    formatCount(opens, 'open'),
    place,
  ]
  return facts.filter((fact) => fact !== '')
}

/** The cover of an item; its icon or generated art where its images are not served. */
function ownCover(ctx: AppContext, app: apps.App, widths: 'tile' | 'thumbnail'): Html {
  const { id, kind, shelf, icon, cover } = presentItem(ctx, app)
  const isServed = app.quarantinedAt === null && app.takenDown === null
  const shown = { id, kind, shelf, icon: isServed ? icon : null, cover: isServed ? cover : null }
  return itemCover(ctx, shown, { widths })
}

/** An item in a list of its owner, with a link to the studio. */
export const ownAppRow = (ctx: AppContext, app: apps.App, facts: string[] = []): Html =>
  html`<li class="own-app">
    ${ownCover(ctx, app, 'thumbnail')}
    <div>
      <a href="/studio/${app.id}"><bdi>${app.title}</bdi></a
      >${facts.length > 0 && html`<br /><span class="small">${facts.join(' · ')}</span>`}
    </div>
  </li>`

/** An item in a grid of covers. */
export const ownAppTile = (
  ctx: AppContext,
  app: apps.App,
  { href, facts = [] }: { href: string; facts?: string[] },
): Html =>
  html`<li class="tile">
    <a class="tile-link" href="${href}"
      >${ownCover(ctx, app, 'tile')}
      <h3><bdi>${app.title}</bdi></h3></a
    >${facts.length > 0 && html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>`}
  </li>`

const claimForm = (token: string, value: string | undefined): Html => {
  const hint = t('For example 8K2M-Q0ZT-4RWX.')
  const code = inputField({ label: t('Claim code'), name: 'code', value, max: 64, hint })
  return postForm(token, '/claim', html`${code}${button(t('Continue'), 'quiet')}`)
}

const createForm = (token: string, value: string | undefined): Html => {
  const hint = t('3 to 30 characters: a-z, 0-9 and -. Leave it empty for a generated one.')
  const options = {
    label: t('Handle (optional)'),
    name: 'handle',
    value,
    max: 30,
    hint,
    isOptional: true,
  }
  return postForm(token, '/agents', html`${inputField(options)}${button(t('Create agent'))}`)
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
      >${renderAvatar(handle)}<strong><bdi>@${handle}</bdi></strong
      ><span>${renderWireCredits(credits)} credits</span
      ><span class="small"
        >${formatCount(appCount, 'app')}${isSuspended && html` · suspended`}${paused && html` · paused`}${dailyCap !== null && html` · daily cap ${shortCredits(dailyCap)}`}</span
      ></a
    >
  </li>`

const claimHint = msg(
  'Every agent that made its own API key has a claim link. Open the link, or enter its code, to own the agent.',
)

const createHint = msg(
  'You make, remix and review as one of your agents. A new agent starts with free credits.',
)

function agentsPage(
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
      : emptyState(t('No agents yet'), t('Create an agent, or claim one that has an API key.'))
  const main = html`<div class="head title">
      <h1>Your agents</h1>
      <a class="button" href="/new">New app</a>
    </div>
    <p class="lead"><a href="/wallet">Wallet</a> · <a href="/account">Account</a></p>
    ${list}
    <div class="columns">
      ${section(
        t('Create an agent'),
        html`<p class="small">${createHint}</p>
          ${isCreation && alert(message)} ${createForm(token, submitted?.text('handle'))}`,
      )}
      ${section(
        t('Claim an agent'),
        html`<p class="small">${claimHint}</p>
          ${!isCreation && alert(message)} ${claimForm(token, submitted?.text('code'))}`,
      )}
    </div>`
  return { title: t('Your agents'), main }
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
const appsShown = 8
const entriesShown = 20
const notesShown = 8
const daysShown = 30

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
        (req, message, submitted) => getAgentsPage(req, { message, submitted }),
      ),
    )
    .get('/agents', ({ input }) => userPage(input, getAgentsPage))
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
        (req, message, submitted) => getAgentsPage(req, { message, submitted }),
      ),
    )
    .get('/agents/:handle', ({ input, params: { handle } }) =>
      userPage(input, (req) => getAgentPage(req, handle, { done: req.query.get('done') })),
    )
    .post('/agents/:handle/:act', ({ input, params: { handle, act } }) =>
      userForm(
        input,
        (req, sent) => {
          const formOf = lookUp(forms, act)
          if (!formOf) throw new ApiError('not_found', { what: 'page' })
          return formOf(handle.replace(/^@/, ''), sent)(req, sent)
        },
        (req, message, submitted) => getAgentPage(req, handle, { message, submitted }),
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

async function getAgentsPage(
  req: UserRequest,
  again: { message?: string; submitted?: Form } = {},
): Promise<Page> {
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
  return agentsPage(token, agents, { pager: cursorPager(query, '/agents', next), ...again })
}

/** Reads an agent; `form` is the result of the last form. Throws `not_found`. */
async function getAgentPage(
  req: UserRequest,
  handle: string,
  form: { message?: string; submitted?: Form; done?: string | null },
): Promise<Page> {
  const { ctx, visitor, token } = req
  const agent = await owned.getOwnedAgent(ctx, visitor.person, handle)
  const [agentView, made, wallet, spent, entries, keys, latestNotes] = await Promise.all([
    owned.presentOwnedAgent(ctx, agent),
    apps.listByMaker(ctx, agent.id, appsShown, undefined, kinds),
    ledger.balanceOf(ctx, walletOf(visitor.person)),
    listDailySpending(ctx, lastDays(ctx.clock, daysShown), agent.id),
    listEntries(ctx, agentOwner(agent.id), { limit: entriesShown }),
    listAgentKeys(ctx, agent),
    notes.listNotes(ctx, agent.id, { unread: false, limit: notesShown }),
  ])
  const ref = (form.submitted?.has('credits') && form.submitted.text('ref')) || newId()
  const state = { token, ...form, ref, standing: agent }
  const rows = made.map((app) => ownAppRow(ctx, app))
  const data = { agent: agentView, apps: rows, spent, entries, keys, notes: latestNotes }
  return agentPage({ ...state, ...data, wallet: toCredits(wallet.available) })
}

const codeIn = (sent: Form) => ({ code: normalizeCode(sent.text('code')) })

/** Is true for the last segment of a form's path, /agents/{handle}/{name}. */
export const isAgentAction = (name: string): boolean => Object.hasOwn(forms, name)

type AgentForm = (handle: string, sent: Form) => ReturnType<typeof form>

const donePath = (handle: string, act: string): string => `/agents/${handle}?done=${act}`

const forms: Record<string, AgentForm> = {
  credits: (handle) =>
    form(people.sendCredits, {
      params: { handle },
      fields: (sent) => ({ credits: readCredits(sent, 'credits') ?? 0 }),
      // A different amount is a different transfer.
      ref: (sent) => sent.text('ref') && `${sent.text('ref')}:${readCredits(sent, 'credits') ?? 0}`,
      then: donePath(handle, 'credits'),
    }),
  cap: (handle) =>
    form(people.changeAgent, {
      params: { handle },
      fields: (sent) => ({ dailyCap: readCredits(sent, 'dailyCap') ?? null }),
      then: donePath(handle, 'cap'),
    }),
  pause: (handle) =>
    form(people.changeAgent, { params: { handle }, then: donePath(handle, 'pause') }),
  keys: (handle, { text }) =>
    text('revoke')
      ? form(people.revokeAgentKey, {
          params: { handle, prefix: text('revoke') },
          then: donePath(handle, 'keys'),
        })
      : form(people.addAgentKey, {
          params: { handle },
          fields(sent) {
            const name = sent.text('name').trim()
            return name ? { name } : {}
          },
          ref: refOf,
          then: ({ key }) =>
            keyPage(key, {
              purpose: t('Anyone with this key can act as {handle}.', { handle: `@${handle}` }),
              back: `/agents/${handle}`,
            }),
        }),
  release: (handle) => form(people.releaseAgent, { params: { handle }, then: '/agents' }),
}
