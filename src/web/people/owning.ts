import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { makeCursor, pageOf } from '../../core/cursor.ts'
import { codeOf, newId } from '../../core/ids.ts'
import { toCredits } from '../../core/money.ts'
import { ApiError } from '../../errors.ts'
import { addKey, keysOf } from '../../hosting/agents/keys.ts'
import * as apps from '../../hosting/apps/apps.ts'
import * as notes from '../../hosting/notes/notes.ts'
import { claim, look } from '../../hosting/people/claims.ts'
import * as owned from '../../hosting/people/owned.ts'
import { shownName, walletOf } from '../../hosting/people/people.ts'
import { callerAddress } from '../../http/request-context.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { spentByDay } from '../../ledger/spending.ts'
import type { Layout, Page } from '../layout.ts'
import { cursorPager, madeIn } from '../lists.ts'
import { queryOf } from '../parts.ts'
import { agentPage, agentsPage } from './agents.ts'
import { claimPage } from './claim.ts'
import { goTo, type Own, ownForm, ownPage, shown, type Visit, visitFor } from './desk.ts'
import { type Form, numberOf, refuse } from './form.ts'
import { newKey } from './new-key.ts'

const agentsShown = 30
const entriesShown = 20
const notesShown = 8
const daysShown = 30

/** Claims, and the agents of a person. */
export const owning = (ctx: AppContext, layout: Layout) =>
  new Elysia().use(claiming(ctx, layout)).use(listing(ctx, layout)).use(acting(ctx, layout))

async function claimView(visit: Visit, code: string, said?: string): Promise<Page> {
  const agent = await look(visit.ctx, code, callerAddress(visit.request))
  const name = visit.visitor && shownName(visit.visitor.person)
  const more = { code: codeOf(code), token: visit.token, name, said }
  const [shape, made] = await Promise.all([
    owned.present(visit.ctx, agent),
    apps.listOf(visit.ctx, agent.id, agentsShown),
  ])
  return claimPage(visit.ctx, { agent, shape, apps: made }, more)
}

const claiming = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/claim/:code', async ({ request, params: { code } }) => {
      const visit = await visitFor({ ctx, layout, request })
      return shown(visit, await claimView(visit, code))
    })
    .post(
      '/claim/:code',
      ({ request, params: { code } }) =>
        ownForm(
          { ctx, layout, request },
          async (own) => {
            const agent = await claim(ctx, own.visitor.person, code, callerAddress(own.request))
            return goTo(`/agents/${agent.handle}`)
          },
          (own, said) => claimView(own, code, said),
        ),
      { parse: 'none' },
    )
    .post(
      '/claim',
      ({ request }) =>
        ownForm(
          { ctx, layout, request },
          async (own, form) => {
            const code = codeOf(form.text('code'))
            await look(ctx, code, callerAddress(own.request))
            return goTo(`/claim/${code}`)
          },
          (own, said, form) => agentsView(own, { said, code: form.text('code') }),
        ),
      { parse: 'none' },
    )

async function agentsView(own: Own, again: { said?: string; code?: string } = {}): Promise<Page> {
  const { ctx, visitor, token } = own
  const query = queryOf(own.request)
  const rows = await owned.listOf(ctx, visitor.person, agentsShown + 1, madeIn(query))
  const { page, next } = pageOf(rows, agentsShown, (agent) => makeCursor(agent.created, agent.id))
  const agents = await Promise.all(
    page.map(async (agent) => ({
      ...(await owned.present(ctx, agent)),
      isSuspended: agent.suspendedFor !== null,
      made: await apps.countOf(ctx, agent.id),
    })),
  )
  return agentsPage(token, agents, { ways: cursorPager(query, '/agents', next), ...again })
}

/** `after` a form: why it was refused and what it sent, a gift that stays one, or what it did. */
async function agentView(
  own: Own,
  handle: string,
  after: { said?: string; sent?: Form; done?: string | null },
): Promise<Page> {
  const { ctx, visitor, token } = own
  const agent = await owned.theOwned(ctx, visitor.person, handle)
  const [shape, wallet, spent, entries, keys, told] = await Promise.all([
    owned.present(ctx, agent),
    ledger.balanceOf(ctx, walletOf(visitor.person)),
    spentByDay(ctx, [agent.id], daysShown),
    listEntries(ctx, agentOwner(agent.id), { limit: entriesShown }),
    keysOf(ctx, agent),
    notes.listOf(ctx, agent.id, { unread: false, limit: notesShown }),
  ])
  const ref = (after.sent?.has('credits') && after.sent.text('ref')) || newId()
  const form = { token, ...after, ref, standing: agent }
  const data = { agent: shape, spent, entries, keys, notes: told }
  return agentPage({ ...form, ...data, wallet: toCredits(wallet.available) })
}

const listing = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/agents', ({ request }) => ownPage({ ctx, layout, request }, agentsView))
    .get('/agents/:handle', ({ request, params: { handle } }) =>
      ownPage({ ctx, layout, request }, (own) =>
        agentView(own, handle, { done: queryOf(request).get('done') }),
      ),
    )

type Agent = Awaited<ReturnType<typeof owned.theOwned>>
type Act = (own: Own, agent: Agent, form: Form) => Promise<Response | undefined>

const acts: Record<string, Act> = {
  async credits({ ctx, visitor }, agent, form) {
    const credits = numberOf(form, 'credits') ?? 0
    if (credits <= 0) refuse('Send more than 0 credits.')
    // Another amount is another gift.
    const ref = form.text('ref') ? `${form.text('ref')}:${credits}` : undefined
    await owned.send(ctx, visitor.person, agent, { credits, ref })
    return undefined
  },
  async cap({ ctx }, agent, form) {
    await owned.change(ctx, agent, { dailyCap: numberOf(form, 'dailyCap') ?? null })
    return undefined
  },
  async pause({ ctx }, agent, form) {
    await owned.change(ctx, agent, { paused: form.text('paused') === 'yes' })
    return undefined
  },
  async keys(own, agent, form) {
    const prefix = form.text('revoke')
    if (prefix) {
      await owned.revokeKey(own.ctx, agent, prefix)
      return undefined
    }
    const name = form.text('name').trim() || undefined
    return newKey(own, form, {
      make: async () => (await addKey(own.ctx, agent, name)).text,
      what: `It is a key of @${agent.handle}: whoever holds it is that agent.`,
      back: `/agents/${agent.handle}`,
    })
  },
  async release({ ctx, visitor }, agent) {
    await owned.release(ctx, visitor.person, agent)
    return goTo('/agents')
  },
}

const acting = (ctx: AppContext, layout: Layout) =>
  new Elysia().post(
    '/agents/:handle/:act',
    ({ request, params: { handle, act } }) =>
      ownForm(
        { ctx, layout, request },
        async (own, form) => {
          const agent = await owned.theOwned(ctx, own.visitor.person, handle)
          const done = Object.hasOwn(acts, act) ? acts[act] : undefined
          if (!done) throw new ApiError('not_found', { what: 'address' })
          return (await done(own, agent, form)) ?? goTo(`/agents/${agent.handle}?done=${act}`)
        },
        (own, said, sent) => agentView(own, handle, { said, sent }),
      ),
    { parse: 'none' },
  )
