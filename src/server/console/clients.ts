import { noSpending, type Spending, type SubjectKind } from '../../kernel/client.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { getRequestContext } from '../../kernel/http/request-context.ts'
import { second } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import type { RestrictionKind } from '../../money/keys/restrictions.ts'
import { form } from '../../site/form.ts'
import { formatBytes, formatCompact } from '../../site/format.ts'
import { button, confirmDialog, hiddenField, postForm, rowMenu } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, emptyState, tableSection, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { decide } from '../operator/operations.ts'
import {
  type ClientCost,
  clientCosts,
  type Collected,
  restrictedNames,
  sumCosts,
} from '../operator/servers.ts'
import { accountLinks, badge, consolePage, hasSeveral, silentNote } from './components.ts'

const place = '/console/clients'
const rowsShown = 10

const tables = [
  ['address', msg('Networks'), msg('Network')],
  ['account', msg('Accounts'), msg('Account')],
  ['key', msg('API keys'), msg('Key')],
] as const

const labels: Record<RestrictionKind, Html> = {
  slow: badge(msg('slowed down')),
  block: badge('blocked', 'bad'),
}

interface ClientRow {
  kind: SubjectKind
  name: string
  spending: Spending
  restriction: RestrictionKind | undefined
  /** The operator uses it now. */
  isOwn: boolean
}

/** Returns the names that the operator uses now, by kind. */
function ownNames({ request, visitor }: UserRequest): Record<SubjectKind, string | undefined> {
  const { client } = getRequestContext(request)
  return { address: client.prefix, account: `person:${visitor.person.id}`, key: undefined }
}

/** Lists the most expensive clients of a kind at all servers, those with a restriction first. */
function listRows(
  req: UserRequest,
  kind: SubjectKind,
  collected: Collected<ClientCost[]>,
): ClientRow[] {
  const { restrictions } = req.ctx
  const own = ownNames(req)
  const sums = sumCosts(collected, kind)
  const top = [...sums.keys()].slice(0, rowsShown)
  return [...new Set([...restrictedNames(req.ctx, kind), ...top])].map((name) => ({
    kind,
    name,
    spending: sums.get(name) ?? noSpending(),
    restriction: restrictions.find(`${kind}:${name}`)?.kind,
    isOwn: own[kind] === name,
  }))
}

/** Renders the clients that cost most, with buttons to slow them down or block them. */
export async function clientsPage(req: UserRequest, message?: string): Promise<Page> {
  const collected = await clientCosts.collect(req.ctx, null)
  const all = tables.map(([kind, title, head]) => ({
    title,
    head,
    rows: listRows(req, kind, collected),
  }))
  const clients = all.flatMap(({ rows }) => rows.map(({ name }) => name))
  const names = await accountLinks(req.ctx, clients)
  const main = html`<auto-refresh class="clients" data-seconds="5"
      >${silentNote(collected)}
      ${all.map(({ title, head, rows }) => clientSection(title, head, rows, names, req.token))}</auto-refresh
    >
    <p class="small below">
      Requests, worker time and stored bytes of the last five to ten minutes, and streams and paid
      calls that are open now. Worker time is the time in which a scan, a PDF, a preview or another
      conversion occupied a worker. A client that is slowed down has 12 requests a minute. The
      console and the sign-in pages stay open to every network.
    </p>`
  const lead = t('The clients that cost {part} most.', {
    part: hasSeveral(collected) ? t('all servers together') : t('this server'),
  })
  return consolePage({
    place,
    title: t('Clients'),
    lead,
    message,
    main,
    scripts: ['auto-refresh.js'],
  })
}

function clientSection(
  title: Text,
  head: Text,
  rows: ClientRow[],
  names: Map<string, Html>,
  token: string,
): Html {
  const heads: Column[] = [
    { long: head },
    { number: t('Requests'), onPhone: 'figure' },
    { number: t('Worker time') },
    { number: t('Stored') },
    { number: t('Open') },
    { unseen: t('Actions') },
  ]
  return tableSection(
    title,
    heads,
    rows.map((row) => [
      html`<span class="client"
        >${names.get(row.name) ?? html`<code>${row.name}</code>`}
        ${row.name.startsWith('gateway:') && html`<span class="small">wallet</span>`}
        ${row.isOwn && html`<span class="small">${t('you')}</span>`}
        ${row.restriction && labels[row.restriction]}</span
      >`,
      costCell(Math.round(row.spending.requests), formatCompact),
      costCell(Math.round((row.spending.work / second) * 10), (tenths) => `${tenths / 10} s`),
      costCell(row.spending.bytes, formatBytes),
      costCell(row.spending.open, formatCompact),
      actions(row, token),
    ]),
    emptyState(t('Nothing yet'), t('Costs are counted since the start of Berth.')),
  )
}

const costCell = (cost: number, format: (cost: number) => string) =>
  cost === 0 ? usual('0') : format(cost)

const blocked = msg(
  'All its requests fail until you lift the block. The console and the sign-in pages stay open.',
)
/** Renders nothing for what the operator uses now. */
function actions({ kind, name, restriction, isOwn }: ClientRow, token: string): Part {
  const item = hiddenField('item', `${kind}:${name}`)
  if (restriction !== undefined) {
    const lift = html`${hiddenField('decision', 'allow')}${button(t('Lift'), 'quiet slim')}`
    return postForm(token, place, html`${item}${lift}`, 'inline')
  }
  if (isOwn) return false
  const slow = button(t('Slow down'), 'quiet slim', {
    name: 'decision',
    value: 'slow',
    target: name,
  })
  const block = confirmDialog({
    label: t('Block'),
    target: name,
    question: html`Block <bdi>${name}</bdi>?`,
    consequence: blocked,
    submit: { name: 'decision', value: 'ban' },
  })
  const fields = html`${item}
    <div class="actions">${slow}${block}</div>`
  return rowMenu(name, postForm(token, place, fields, 'inline'))
}

/** Slows a client down, blocks it, or lifts the restriction. */
export const clientForm = form(decide, { then: place })
