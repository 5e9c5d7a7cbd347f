import { Elysia } from 'elysia'

import { makeCursor, pageOf } from '../../core/cursor.ts'
import { codeOf, newId } from '../../core/ids.ts'
import { toCredits } from '../../core/money.ts'
import { callerAddress } from '../../core/visit.ts'
import { addKey, keysOf } from '../../hosting/agents/keys.ts'
import * as apps from '../../hosting/apps/apps.ts'
import * as notes from '../../hosting/notes/notes.ts'
import { claim, look } from '../../hosting/people/claims.ts'
import * as owned from '../../hosting/people/owned.ts'
import { shownName, walletOf } from '../../hosting/people/people.ts'
import type { House } from '../../house.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { spentByDay } from '../../ledger/spending.ts'
import { Refusal } from '../../refusals.ts'
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
export const owning = (house: House, layout: Layout) =>
  new Elysia().use(claiming(house, layout)).use(listing(house, layout)).use(acting(house, layout))

async function claimView(visit: Visit, code: string, said?: string): Promise<Page> {
  const agent = await look(visit.house, code, callerAddress(visit.request))
  const name = visit.visitor && shownName(visit.visitor.person)
  const more = { code: codeOf(code), token: visit.token, name, said }
  const [shape, made] = await Promise.all([
    owned.present(visit.house, agent),
    apps.listOf(visit.house, agent.id, agentsShown),
  ])
  return claimPage(visit.house, { agent, shape, apps: made }, more)
}

const claiming = (house: House, layout: Layout) =>
  new Elysia()
    .get('/claim/:code', async ({ request, params: { code } }) => {
      const visit = await visitFor({ house, layout, request })
      return shown(visit, await claimView(visit, code))
    })
    .post(
      '/claim/:code',
      ({ request, params: { code } }) =>
        ownForm(
          { house, layout, request },
          async (own) => {
            const agent = await claim(house, own.visitor.person, code, callerAddress(own.request))
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
          { house, layout, request },
          async (own, form) => {
            const code = codeOf(form.text('code'))
            await look(house, code, callerAddress(own.request))
            return goTo(`/claim/${code}`)
          },
          (own, said, form) => agentsView(own, { said, code: form.text('code') }),
        ),
      { parse: 'none' },
    )

async function agentsView(own: Own, again: { said?: string; code?: string } = {}): Promise<Page> {
  const { house, visitor, token } = own
  const query = queryOf(own.request)
  const rows = await owned.listOf(house, visitor.person, agentsShown + 1, madeIn(query))
  const { page, next } = pageOf(rows, agentsShown, (agent) => makeCursor(agent.created, agent.id))
  const agents = await Promise.all(
    page.map(async (agent) => ({
      ...(await owned.present(house, agent)),
      isSuspended: agent.suspendedFor !== null,
      made: await apps.countOf(house, agent.id),
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
  const { house, visitor, token } = own
  const agent = await owned.theOwned(house, visitor.person, handle)
  const [shape, wallet, spent, entries, keys, told] = await Promise.all([
    owned.present(house, agent),
    ledger.balanceOf(house, walletOf(visitor.person)),
    spentByDay(house, [agent.id], daysShown),
    listEntries(house, agentOwner(agent.id), { limit: entriesShown }),
    keysOf(house, agent),
    notes.listOf(house, agent.id, { unread: false, limit: notesShown }),
  ])
  const ref = (after.sent?.has('credits') && after.sent.text('ref')) || newId()
  const form = { token, ...after, ref, standing: agent }
  const data = { agent: shape, spent, entries, keys, notes: told }
  return agentPage({ ...form, ...data, wallet: toCredits(wallet.available) })
}

const listing = (house: House, layout: Layout) =>
  new Elysia()
    .get('/agents', ({ request }) => ownPage({ house, layout, request }, agentsView))
    .get('/agents/:handle', ({ request, params: { handle } }) =>
      ownPage({ house, layout, request }, (own) =>
        agentView(own, handle, { done: queryOf(request).get('done') }),
      ),
    )

type Agent = Awaited<ReturnType<typeof owned.theOwned>>
type Act = (own: Own, agent: Agent, form: Form) => Promise<Response | undefined>

const acts: Record<string, Act> = {
  async credits({ house, visitor }, agent, form) {
    const credits = numberOf(form, 'credits') ?? 0
    if (credits <= 0) refuse('Send more than 0 credits.')
    // Another amount is another gift.
    const ref = form.text('ref') ? `${form.text('ref')}:${credits}` : undefined
    await owned.send(house, visitor.person, agent, { credits, ref })
    return undefined
  },
  async cap({ house }, agent, form) {
    await owned.change(house, agent, { dailyCap: numberOf(form, 'dailyCap') ?? null })
    return undefined
  },
  async pause({ house }, agent, form) {
    await owned.change(house, agent, { paused: form.text('paused') === 'yes' })
    return undefined
  },
  async keys(own, agent, form) {
    const prefix = form.text('revoke')
    if (prefix) {
      await owned.revokeKey(own.house, agent, prefix)
      return undefined
    }
    const name = form.text('name').trim() || undefined
    return newKey(own, form, {
      make: async () => (await addKey(own.house, agent, name)).text,
      what: `It is a key of @${agent.handle}: whoever holds it is that agent.`,
      back: `/agents/${agent.handle}`,
    })
  },
  async release({ house, visitor }, agent) {
    await owned.release(house, visitor.person, agent)
    return goTo('/agents')
  },
}

const acting = (house: House, layout: Layout) =>
  new Elysia().post(
    '/agents/:handle/:act',
    ({ request, params: { handle, act } }) =>
      ownForm(
        { house, layout, request },
        async (own, form) => {
          const agent = await owned.theOwned(house, own.visitor.person, handle)
          const done = Object.hasOwn(acts, act) ? acts[act] : undefined
          if (!done) throw new Refusal('not_found', { what: 'address' })
          return (await done(own, agent, form)) ?? goTo(`/agents/${agent.handle}?done=${act}`)
        },
        (own, said, sent) => agentView(own, handle, { said, sent }),
      ),
    { parse: 'none' },
  )
