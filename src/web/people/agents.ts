import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import { isPausedByOperator } from '../../hosting/agents/spending.ts'
import { suspended } from '../../hosting/agents/suspension.ts'
import type { Note } from '../../hosting/notes/notes.ts'
import type { OwnedShape } from '../../hosting/people/schemas.ts'
import type { Key } from '../../keys/keys.ts'
import type { Entry } from '../../ledger/entries.ts'
import type { Spent } from '../../ledger/spending.ts'
import { inColumn, inCredits } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { empty, itemList } from '../lists.ts'
import { counted, momentOf, numbers } from '../parts.ts'
import { table } from '../table.ts'
import { refusalOf } from '../words.ts'
import { keyForm, keyTable } from './account.ts'
import { ask } from './ask.ts'
import { chart } from './chart.ts'
import { alert, field, type Form, form, hidden, notice } from './form.ts'
import { noteItem } from './notes.ts'

const appsShown = 8

const claimForm = (token: string, value: string | undefined): Html => {
  const hint = 'Such as 8K2M-Q0ZT-4RWX.'
  const code = field({ label: 'Claim code', name: 'code', value, max: 64, hint })
  return form(token, '/claim', html`${code}<button class="button">Look at it</button>`)
}

/** An agent, with how many apps it made: its shape names only the newest. */
type Counted = OwnedShape & { made: number; isSuspended: boolean }

const card = ({ handle, credits, paused, dailyCap, made, isSuspended }: Counted): Html =>
  html`<li>
    <a href="/agents/${handle}"
      ><strong>@${handle}</strong><span>${inCredits(credits)} credits</span
      ><span class="small"
        >${counted(made, 'app')}${isSuspended && ' · suspended'}${paused && ' · paused'}${dailyCap !== null && ` · at most ${inCredits(dailyCap)} a day`}</span
      ></a
    >
  </li>`

const howToClaim =
  'Each agent is given a claim link with its key. Open the link, or type its code below, and the ' +
  'agent is yours to fund, bound and pause.'

/** The agents of a person, and where to claim another. */
export function agentsPage(
  token: string,
  agents: Counted[],
  more: { ways: Part; said?: string; code?: string },
): Page {
  const list =
    agents.length > 0
      ? html`<ul class="cards">
            ${agents.map(card)}
          </ul>
          ${more.ways}`
      : empty('No agent yet', howToClaim)
  const main = html`<h1>Your agents</h1>
    <p class="lead"><a href="/wallet">Wallet</a> · <a href="/account">Account</a></p>
    ${list}
    <section>
      <h2>Claim an agent</h2>
      ${alert(more.said)} ${claimForm(token, more.code)}
    </section>`
  return { title: 'Your agents', main }
}

/** The way back from what belongs to an agent. */
export const crumb = ({ handle }: Pick<Agent, 'handle'>): Html =>
  html`<p class="crumb">
    <a href="/agents">Your agents</a> / <a href="/agents/${handle}">@${handle}</a>
  </p>`

/** What the page of one agent is drawn from. */
export interface OwnedView {
  token: string
  agent: OwnedShape
  /** What others than its owner decided of it. */
  standing: Pick<Agent, 'suspendedFor' | 'pausedBy'>
  /** What is in the person's wallet, in credits. */
  wallet: number
  /** Names the gift that this page would send: sent twice, it is one. */
  ref: string
  spent: Spent[]
  entries: Entry[]
  keys: Key[]
  notes: Note[]
  said?: string | undefined
  /** What was typed into the form that was refused. */
  sent?: Form | undefined
  /** The form that brought here. */
  done?: string | null | undefined
}

/** Why an agent can do nothing, for its owner. */
export const suspendedNote = (agent: Pick<Agent, 'suspendedFor'>): string | undefined =>
  agent.suspendedFor === null ? undefined : refusalOf(suspended(agent))?.said

/** What a form has done, as it stands now. */
function doneNote({ done, agent }: OwnedView): Part {
  const words = new Map([
    ['credits', `Sent. It has ${inCredits(agent.credits)} credits now.`],
    ['cap', 'The cap is set.'],
    ['pause', agent.paused ? 'It is paused.' : 'It may buy again.'],
    ['keys', 'The key is revoked.'],
  ]).get(done ?? '')
  return notice(words)
}

/** Ledger lines, newest first. */
export function entryTable(entries: Entry[]): Html {
  const amounts = inColumn(
    entries.map(({ amount }) => amount),
    'exceptZero',
  )
  const left = inColumn(entries.map(({ balance }) => balance))
  return table(
    'Ledger',
    ['Time', { kind: 'What' }, 'Of', { number: 'Credits' }, { number: 'Left' }],
    entries.map(({ at, kind, item }, row) => [
      momentOf(iso(at)),
      kind,
      item !== null && html`<code>${item}</code>`,
      amounts[row],
      left[row],
    ]),
  )
}

function bounding({ token, agent, standing, wallet, ref, sent }: OwnedView): Html {
  const path = `/agents/${agent.handle}`
  const credits = field({
    label: 'Credits',
    name: 'credits',
    type: 'number',
    hint: `Your wallet has ${inCredits(wallet)}.`,
    value: sent?.text('credits'),
  })
  const gift = html`${hidden('ref', ref)}${credits}<button class="button">Send credits</button>`
  const cap = field({
    label: 'Credits a day',
    name: 'dailyCap',
    type: 'number',
    value: sent?.text('dailyCap') || (agent.dailyCap ?? ''),
    hint: 'Of all its keys together. Empty: no cap.',
    free: true,
  })
  const byOperator = isPausedByOperator(standing)
  const words = byOperator
    ? 'The operator of this place paused it: it can buy nothing until they let it.'
    : agent.paused
      ? 'It is paused and can buy nothing.'
      : 'Paused, it can buy nothing.'
  const pause = html`${hidden('paused', agent.paused ? 'no' : 'yes')}<button class="button quiet">
      ${agent.paused ? 'Let it buy again' : 'Pause it'}
    </button>`
  return html`<div class="columns">
    <section>
      <h2>Send credits</h2>
      ${form(token, `${path}/credits`, gift)}
    </section>
    <section>
      <h2>Daily cap</h2>
      ${form(token, `${path}/cap`, html`${cap}<button class="button quiet">Set the cap</button>`)}
      <p class="small below">${words}</p>
      ${!byOperator && form(token, `${path}/pause`, pause, 'act')}
    </section>
  </div>`
}

const facts = ({ credits, held, spentToday, dailyCap }: OwnedShape): Html =>
  numbers([
    ['Credits', inCredits(credits)],
    ['Held for what runs', inCredits(held)],
    [
      'Spent today',
      html`${inCredits(spentToday)}${dailyCap !== null && ` of ${inCredits(dailyCap)}`}`,
    ],
  ])

const nothingYet = html`<p class="small">Nothing yet.</p>`

/** The head of the newest of a list, with a way to all of it. */
const headed = (name: string, path: string, hasMore: boolean): Html =>
  html`<div class="head">
    <h2>${name}</h2>
    ${hasMore && html`<a class="small" href="${path}" aria-label="${name}: all">All</a>`}
  </div>`

/** One agent, as its owner sees it. */
export function agentPage(view: OwnedView): Page {
  const { token, agent, standing, spent, entries, keys, notes, sent } = view
  const said = view.said ?? suspendedNote(standing)
  const path = `/agents/${agent.handle}`
  const apps = agent.apps.slice(0, appsShown).map(
    ({ id, title }) =>
      html`<li>
        <a href="/studio/${id}"><bdi>${title}</bdi></a>
      </li>`,
  )
  const release = ask({
    word: 'Release',
    question: `Release @${agent.handle}?`,
    ends: 'It is yours no more, and what you sent it stays with it.',
  })
  const main = html`<p class="crumb"><a href="/agents">Your agents</a></p>
    <h1>@${agent.handle}</h1>
    ${agent.about !== null && html`<p class="lead"><bdi>${agent.about}</bdi></p>`} ${alert(said)}
    ${doneNote(view)} ${facts(agent)} ${bounding(view)}
    <section>
      <h2>Spending</h2>
      ${chart(spent)}
    </section>
    <div class="columns">
      <section>
        ${headed('What it made', `${path}/apps`, apps.length > 0)} ${itemList(apps, nothingYet)}
      </section>
      <section>
        ${headed('What it was told', `${path}/notes`, notes.length > 0)}
        ${itemList(notes.map(noteItem), nothingYet)}
      </section>
    </div>
    <section>
      ${headed('Ledger', `${path}/ledger`, entries.length > 0)} ${entryTable(entries)}
    </section>
    <section>
      <h2>Keys</h2>
      ${keyTable(token, `${path}/keys`, keys)}${keyForm(token, `${path}/keys`, sent?.text('name'))}
    </section>
    <section>
      <h2>Release</h2>
      <p class="small">It keeps its credits, apps and keys, and another person can claim it.</p>
      ${form(token, `${path}/release`, release)}
    </section>`
  return { title: `@${agent.handle}`, main }
}
