import type { OwnedAgent } from '../../apps/owners/schemas.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t, textOf } from '../../kernel/words/message.ts'
import { currentLanguage } from '../../kernel/words/words.ts'
import type { Key } from '../../money/keys/keys.ts'
import type { DailyAmount, Entry } from '../../money/ledger/reports.ts'
import { type Agent, suspensionError } from '../../people/agents/agents.ts'
import { isPausedByOperator } from '../../people/agents/spending.ts'
import { describeError } from '../../people/error-response.ts'
import type { Note } from '../../people/notifications/notifications.ts'
import { keyForm, keyTable } from '../account.ts'
import { spendingChart } from '../chart.ts'
import { section, statList } from '../components.ts'
import { renderDateTime, renderWireCredits, shortCredits } from '../format.ts'
import {
  alert,
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
} from '../forms.ts'
import type { Page } from '../layout.ts'
import { itemList, ledgerTable } from '../lists.ts'

/** Links to an agent, after a link to the page that lists it. */
export const agentBreadcrumb = (
  { handle }: Pick<Agent, 'handle'>,
  list: Html = html`<a href="/agents">Your agents</a>`,
): Html =>
  html`<p class="crumb">
    ${list} / <a href="/agents/${handle}"><bdi>@${handle}</bdi></a>
  </p>`

export interface AgentView {
  token: string
  agent: OwnedAgent
  /** Its newest items. */
  apps: Html[]
  /** Decisions of the operator. */
  standing: Pick<Agent, 'suspendedFor' | 'pausedBy'>
  /** Balance of the person's wallet in credits. */
  wallet: number
  /** The idempotency key of the next transfer. */
  ref: string
  spent: DailyAmount[]
  entries: Entry[]
  keys: Key[]
  notes: Note[]
  message?: string | undefined
  /** The form that failed, with the typed values. */
  submitted?: Form | undefined
  /** The form that was submitted successfully. */
  done?: string | null | undefined
}

/** Explains a suspension to the agent's owner. */
export const suspensionMessage = (agent: Pick<Agent, 'suspendedFor'>): string | undefined =>
  agent.suspendedFor === null ? undefined : describeError(suspensionError(agent))?.message

function doneNotice({ done, agent }: AgentView): Part {
  const words = new Map([
    [
      'credits',
      t('Credits sent. New balance: {credits} credits.', { credits: shortCredits(agent.credits) }),
    ],
    ['cap', t('Daily cap updated.')],
    ['pause', agent.paused ? t('Spending paused.') : t('Spending resumed.')],
    ['keys', t('API key revoked.')],
  ]).get(done ?? '')
  return notice(words)
}

function limitSections({ token, agent, standing, wallet, ref, submitted }: AgentView): Html {
  const path = `/agents/${agent.handle}`
  const credits = inputField({
    label: t('Credits'),
    name: 'credits',
    type: 'number',
    hint: t('Wallet balance: {wallet} credits.', { wallet: shortCredits(wallet) }),
    value: submitted?.text('credits'),
  })
  const transfer = html`${hiddenField('ref', ref)}${credits}${button(t('Send credits'))}`
  const cap = inputField({
    label: t('Daily cap (credits)'),
    name: 'dailyCap',
    type: 'number',
    value: submitted?.text('dailyCap') || (agent.dailyCap ?? ''),
    hint: t('For all API keys of the agent together. Leave empty for no limit.'),
    isOptional: true,
  })
  const byOperator = isPausedByOperator(standing)
  const status = byOperator
    ? t('The operator paused spending. Only the operator can resume it.')
    : agent.paused
      ? t('Spending is paused.')
      : t('A paused agent cannot spend credits.')
  const pause = html`${hiddenField('paused', agent.paused ? 'no' : 'yes')}${button(agent.paused ? t('Resume spending') : t('Pause spending'), 'quiet')}`
  return html`<div class="columns">
    ${section(t('Send credits'), html`${postForm(token, `${path}/credits`, transfer)}`)}
    ${section(
      t('Daily cap'),
      html`${postForm(token, `${path}/cap`, html`${cap}${button(t('Save limit'), 'quiet')}`)}
        <p class="small below">${status}</p>
        ${!byOperator && postForm(token, `${path}/pause`, pause, 'act')}`,
    )}
  </div>`
}

const stats = ({ credits, held, spentToday, dailyCap }: OwnedAgent): Html =>
  statList([
    [t('Credits'), renderWireCredits(credits)],
    [t('On hold'), renderWireCredits(held)],
    [
      t('Spent today'),
      html`${renderWireCredits(spentToday)}${dailyCap !== null && html` of ${renderWireCredits(dailyCap)}`}`,
    ],
  ])

const sectionHead = (name: string, path: string, hasMore: boolean): Html =>
  html`<div class="head">
    <h2>${name}</h2>
    ${hasMore && html`<a class="small" href="${path}" aria-label="View all: ${name}">View all</a>`}
  </div>`

/** Renders an agent for its owner. */
export function agentPage(view: AgentView): Page {
  const { token, agent, standing, apps, spent, entries, keys, notes, submitted } = view
  const message = view.message ?? suspensionMessage(standing)
  const path = `/agents/${agent.handle}`
  const release = confirmDialog({
    label: t('Release agent'),
    question: t('Release {handle}?', { handle: `@${agent.handle}` }),
    consequence: t('You no longer own it. Credits that you sent stay with the agent.'),
  })
  const main = html`<p class="crumb"><a href="/agents">Your agents</a></p>
    <h1><bdi>@${agent.handle}</bdi></h1>
    ${agent.about !== null && html`<p class="lead"><bdi>${agent.about}</bdi></p>`} ${alert(message)}
    ${doneNotice(view)} ${stats(agent)} ${limitSections(view)}
    ${section(t('Spending'), spendingChart(spent))}
    <div class="columns">
      <section>
        ${sectionHead(t('Apps'), `${path}/apps`, apps.length > 0)}
        ${itemList(apps, html`<p class="small">No apps yet.</p>`)}
      </section>
      <section>
        ${sectionHead(t('Notifications'), `${path}/notes`, notes.length > 0)}
        ${itemList(
          notes.map((note) => renderNote(note, { label: note.kind })),
          html`<p class="small">No notifications yet.</p>`,
        )}
      </section>
    </div>
    <section>
      ${sectionHead(t('Transactions'), `${path}/ledger`, entries.length > 0)}
      ${ledgerTable(entries)}
    </section>
    ${section(t('API keys'), html`${keyTable(token, `${path}/keys`, keys)}${keyForm(token, `${path}/keys`, submitted?.text('name'))}`)}
    ${section(
      t('Release agent'),
      html`<p class="small">
          The agent keeps its credits, apps and API keys. Another person can then claim it.
        </p>
        ${postForm(token, `${path}/release`, release)}`,
    )}`
  return { title: `@${agent.handle}`, main }
}

/** Isolates quoted texts, so that right-to-left quotes do not swap places. */
const isolateQuotes = (text: string): Part =>
  text
    .split(/(?<=“)([^”]+)(?=”)/)
    .map((piece, at) => (at % 2 === 1 ? html`<bdi>${piece}</bdi>` : piece))

/** Returns the text of a note in the language of its reader. */
const noteText = ({ text, messages }: Pick<Note, 'text' | 'messages'>): Html =>
  messages && currentLanguage() !== 'en'
    ? html`<bdi>${textOf(messages)}</bdi>`
    : html`<bdi dir="ltr">${isolateQuotes(text)}</bdi>`

/** A dot before an unread note. */
export const unreadMark: Html = html`<span class="unread-mark"
  ><span class="visually-hidden">Unread: </span></span
>`

interface NoteOptions {
  /** Its kind, or its agent in a list of several agents. */
  label?: string | undefined
  /** The image of the item that it is about. */
  image?: Part
}

export const renderNote = (
  { at, read, item, ...words }: Note,
  { label, image }: NoteOptions = {},
): Html =>
  html`<li>
    ${image}
    <div>
      ${read === null && unreadMark}${noteText(words)}<br /><span class="small"
        >${label !== undefined && `${label} · `}${renderDateTime(at)}${item !== null && html` · <a href="/a/${item}">Open</a>`}</span
      >
    </div>
  </li>`
