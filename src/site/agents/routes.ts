import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import * as people from '../../apps/owners/operations.ts'
import * as owned from '../../apps/owners/owned-agents.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { clientAddressGroup } from '../../kernel/http/request-context.ts'
import { newId, normalizeCode } from '../../kernel/ids.ts'
import { toCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/entries.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { listDailySpending } from '../../money/ledger/spending.ts'
import { listAgentKeys } from '../../people/agents/keys.ts'
import { listOwnedAgents } from '../../people/agents/listing.ts'
import { previewClaim } from '../../people/claims.ts'
import * as notes from '../../people/notifications/notifications.ts'
import { displayName, walletOf } from '../../people/people.ts'
import { form } from '../form.ts'
import { type Form, readCredits } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager } from '../lists.ts'
import { keyPage, refOf } from '../new-key.ts'
import {
  getPageRequest,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { agentPage } from './agent.ts'
import { agentsPage, claimPage } from './agents.ts'
import { ownAppRow } from './own-app-row.ts'

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
    .get('/claim', () => redirectTo('/agents'))
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
    listDailySpending(ctx, [agent.id], daysShown),
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
              purpose: `Anyone with this key can act as @${handle}.`,
              back: `/agents/${handle}`,
            }),
        }),
  release: (handle) => form(people.releaseAgent, { params: { handle }, then: '/agents' }),
}
