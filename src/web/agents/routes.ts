import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { makeCursor, pageOf } from '../../core/cursor.ts'
import { codeOf, newId } from '../../core/ids.ts'
import { toCredits } from '../../core/money.ts'
import { ApiError } from '../../errors.ts'
import { createAgentKey, listAgentKeys } from '../../hosting/agents/keys.ts'
import * as apps from '../../hosting/apps/apps.ts'
import * as notes from '../../hosting/notifications/notifications.ts'
import { claimAgent, previewClaim } from '../../hosting/people/claims.ts'
import * as owned from '../../hosting/people/owned-agents.ts'
import { displayName, walletOf } from '../../hosting/people/people.ts'
import { callerAddress } from '../../http/request-context.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { listDailySpending } from '../../ledger/spending.ts'
import { queryOf } from '../components.ts'
import { parseCredits, rejectForm, type SubmittedForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager } from '../lists.ts'
import { createAndShowKey } from '../new-key.ts'
import {
  getPageRequest,
  type PageRequest,
  privatePage,
  redirectTo,
  signedInForm,
  signedInPage,
  type SignedInRequest,
} from '../session.ts'
import { agentPage, agentsPage } from './agents.ts'
import { claimPage } from './claim.ts'

const agentsShown = 30
const entriesShown = 20
const notesShown = 8
const daysShown = 30

/** Claims, and the agents of a person. */
export const agentRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(claimRoutes(ctx, layout))
    .use(agentPageRoutes(ctx, layout))
    .use(agentActionRoutes(ctx, layout))

async function getClaimPage(
  pageRequest: PageRequest,
  code: string,
  message?: string,
): Promise<Page> {
  const agent = await previewClaim(pageRequest.ctx, code, callerAddress(pageRequest.request))
  const name = pageRequest.visitor && displayName(pageRequest.visitor.person)
  const more = { code: codeOf(code), token: pageRequest.token, name, message }
  const [shape, made] = await Promise.all([
    owned.presentOwnedAgent(pageRequest.ctx, agent),
    apps.listByMaker(pageRequest.ctx, agent.id, agentsShown),
  ])
  return claimPage(pageRequest.ctx, { agent, shape, apps: made }, more)
}

const claimRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/claim/:code', async ({ request, params: { code } }) => {
      const pageRequest = await getPageRequest({ ctx, layout, request })
      return privatePage(pageRequest, await getClaimPage(pageRequest, code))
    })
    .post(
      '/claim/:code',
      ({ request, params: { code } }) =>
        signedInForm(
          { ctx, layout, request },
          async (signedIn) => {
            const agent = await claimAgent(
              ctx,
              signedIn.visitor.person,
              code,
              callerAddress(signedIn.request),
            )
            return redirectTo(`/agents/${agent.handle}`)
          },
          (signedIn, message) => getClaimPage(signedIn, code, message),
        ),
      { parse: 'none' },
    )
    .post(
      '/claim',
      ({ request }) =>
        signedInForm(
          { ctx, layout, request },
          async (signedIn, form) => {
            const code = codeOf(form.text('code'))
            await previewClaim(ctx, code, callerAddress(signedIn.request))
            return redirectTo(`/claim/${code}`)
          },
          (signedIn, message, form) =>
            getAgentsPage(signedIn, { message, code: form.text('code') }),
        ),
      { parse: 'none' },
    )

async function getAgentsPage(
  signedIn: SignedInRequest,
  again: { message?: string; code?: string } = {},
): Promise<Page> {
  const { ctx, visitor, token } = signedIn
  const query = queryOf(signedIn.request)
  const rows = await owned.list(ctx, visitor.person, agentsShown + 1, createdCursor(query))
  const { page, next } = pageOf(rows, agentsShown, (agent) => makeCursor(agent.created, agent.id))
  const agents = await Promise.all(
    page.map(async (agent) => ({
      ...(await owned.presentOwnedAgent(ctx, agent)),
      isSuspended: agent.suspendedFor !== null,
      made: await apps.countByMaker(ctx, agent.id),
    })),
  )
  return agentsPage(token, agents, { ways: cursorPager(query, '/agents', next), ...again })
}

/** `after` a form: why it was refused and what it sent, a gift that stays one, or what it did. */
async function getAgentPage(
  signedIn: SignedInRequest,
  handle: string,
  after: { message?: string; submitted?: SubmittedForm; done?: string | null },
): Promise<Page> {
  const { ctx, visitor, token } = signedIn
  const agent = await owned.getOwnedAgent(ctx, visitor.person, handle)
  const [shape, wallet, spent, entries, keys, told] = await Promise.all([
    owned.presentOwnedAgent(ctx, agent),
    ledger.balanceOf(ctx, walletOf(visitor.person)),
    listDailySpending(ctx, [agent.id], daysShown),
    listEntries(ctx, agentOwner(agent.id), { limit: entriesShown }),
    listAgentKeys(ctx, agent),
    notes.listNotes(ctx, agent.id, { unread: false, limit: notesShown }),
  ])
  const ref = (after.submitted?.has('credits') && after.submitted.text('ref')) || newId()
  const form = { token, ...after, ref, standing: agent }
  const data = { agent: shape, spent, entries, keys, notes: told }
  return agentPage({ ...form, ...data, wallet: toCredits(wallet.available) })
}

const agentPageRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/agents', ({ request }) => signedInPage({ ctx, layout, request }, getAgentsPage))
    .get('/agents/:handle', ({ request, params: { handle } }) =>
      signedInPage({ ctx, layout, request }, (signedIn) =>
        getAgentPage(signedIn, handle, { done: queryOf(request).get('done') }),
      ),
    )

type Agent = Awaited<ReturnType<typeof owned.getOwnedAgent>>
type Action = (
  signedIn: SignedInRequest,
  agent: Agent,
  form: SubmittedForm,
) => Promise<Response | undefined>

const actions: Record<string, Action> = {
  async credits({ ctx, visitor }, agent, form) {
    const credits = parseCredits(form, 'credits') ?? 0
    if (credits <= 0) rejectForm('Send more than 0 credits.')
    // Another amount is another gift.
    const ref = form.text('ref') ? `${form.text('ref')}:${credits}` : undefined
    await owned.sendCredits(ctx, visitor.person, agent, { credits, ref })
    return undefined
  },
  async cap({ ctx }, agent, form) {
    await owned.updateBounds(ctx, agent, { dailyCap: parseCredits(form, 'dailyCap') ?? null })
    return undefined
  },
  async pause({ ctx }, agent, form) {
    await owned.updateBounds(ctx, agent, { paused: form.text('paused') === 'yes' })
    return undefined
  },
  async keys(signedIn, agent, form) {
    const prefix = form.text('revoke')
    if (prefix) {
      await owned.revokeKey(signedIn.ctx, agent, prefix)
      return undefined
    }
    const name = form.text('name').trim() || undefined
    return createAndShowKey(signedIn, form, {
      make: async () => (await createAgentKey(signedIn.ctx, agent, name)).text,
      what: `It is a key of @${agent.handle}: whoever holds it is that agent.`,
      back: `/agents/${agent.handle}`,
    })
  },
  async release({ ctx, visitor }, agent) {
    await owned.release(ctx, visitor.person, agent)
    return redirectTo('/agents')
  },
}

const agentActionRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia().post(
    '/agents/:handle/:act',
    ({ request, params: { handle, act } }) =>
      signedInForm(
        { ctx, layout, request },
        async (signedIn, form) => {
          const agent = await owned.getOwnedAgent(ctx, signedIn.visitor.person, handle)
          const done = Object.hasOwn(actions, act) ? actions[act] : undefined
          if (!done) throw new ApiError('not_found', { what: 'address' })
          return (
            (await done(signedIn, agent, form)) ?? redirectTo(`/agents/${agent.handle}?done=${act}`)
          )
        },
        (signedIn, message, submitted) => getAgentPage(signedIn, handle, { message, submitted }),
      ),
    { parse: 'none' },
  )
