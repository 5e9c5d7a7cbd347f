import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, parseCursor, takePage } from '../../kernel/cursor.ts'
import { html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { capOf, type Key, searchKeys } from '../../money/keys/keys.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { findLatestSpending, sumSpendingByPeriod } from '../../money/ledger/reports.ts'
import { searchTerm } from '../../site/components.ts'
import { formatNumber, renderDate } from '../../site/format.ts'
import { notice } from '../../site/forms.ts'
import { budgetLines } from '../../site/key-form.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, cursorPager, dataTable, emptyState, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findKeyManager } from '../operator/grants.ts'
import { accountNames, badge, consolePage, searchCharsMax, searchForm } from './components.ts'

export const keysPath = '/console/keys'

const rowsShown = 30

/** Returns the path of the keys of an account: an @handle, a person or a credit_id. */
export const accountKeysPath = (name: string): string => `${keysPath}/${encodeURIComponent(name)}`

/** The pages above a key or a project of an account. */
export const aboveKeys = (name: string) =>
  [
    [keysPath, t('Keys')],
    [accountKeysPath(name), name],
  ] as const

const stateBadges = ({ suspended, expires }: Key, now: number): Part => [
  suspended !== null && badge('suspended', 'bad'),
  expires !== null && expires <= now && badge('expired', 'bad'),
]

const limitLines = ({ models, requestsPerMinute, tokensPerMinute, runningRequests }: Key) => {
  const lines = [
    ...(models === null ? [] : [models.join(', ')]),
    ...(requestsPerMinute === null
      ? []
      : [
          t('{requestsPerMinute} requests/min', {
            requestsPerMinute: formatNumber(requestsPerMinute),
          }),
        ]),
    ...(tokensPerMinute === null
      ? []
      : [
          t('{tokensPerMinute} tokens/min', {
            tokensPerMinute: formatNumber(tokensPerMinute),
          }),
        ]),
    ...(runningRequests === null
      ? []
      : [
          t('{runningRequests} at the same time', {
            runningRequests: formatNumber(runningRequests),
          }),
        ]),
  ]
  return lines.length > 0 ? lines.map((line) => html`<div>${line}</div>`) : usual(t('All models'))
}

const heads: Column[] = [
  { long: msg('Key') },
  { text: msg('Spent / cap'), onPhone: 'figure' },
  { long: msg('Limits'), onPhone: 'plain' },
  msg('Last used'),
  msg('Expires'),
]

/** A table of keys with their use and limits. `place` renders the account or project of a key. */
export async function keyTable(
  ctx: AppContext,
  keys: Key[],
  nameOf: (key: Key) => string,
  place: { head: string; of: (key: Key) => Part },
): Promise<Part> {
  const counters = keys.map((key) => capOf(key).key)
  const [spentOf, last] = await Promise.all([
    sumSpendingByPeriod(ctx, counters),
    findLatestSpending(ctx, counters),
  ])
  const row = (key: Key) => {
    const { prefix, name, note, tags, expires } = key
    const counter = capOf(key).key
    const used = last.get(counter)
    return [
      html`<a class="model-name" href="${accountKeysPath(nameOf(key))}/${prefix}"
          >${name === null ? html`<code>${prefix}…</code>` : html`<bdi>${name}</bdi>`}</a
        >
        ${(tags ?? []).map((tag) => html`<bdi class="badge plain">${tag}</bdi> `)}
        ${stateBadges(key, ctx.clock.now())}${name !== null && html`<code>${prefix}…</code>`}
        ${note !== null && html`<span class="small"><bdi>${note}</bdi></span>`}`,
      place.of(key),
      budgetLines(key, spentOf(counter)),
      limitLines(key),
      used ? renderDate(used.day) : usual(t('Never')),
      expires === null ? usual(t('Never')) : renderDate(expires),
    ]
  }
  const [first = '', ...others] = heads
  return html`<div class="models keys">
    ${dataTable(t('API keys'), [first, place.head, ...others], keys.map(row))}
  </div>`
}

/** Renders the keys of all accounts, newest first, filtered by account or text. */
export async function keysPage({ ctx, query }: UserRequest): Promise<Page> {
  const q = searchTerm(query, searchCharsMax)?.replace(/\p{Cc}/gu, '')
  const form = /^(\d{1,15}) ((?:ak|gk)_[A-Za-z0-9]{8})$/
  const [created, prefix = ''] = parseCursor(query.get('cursor') ?? undefined, form) ?? []
  const account = q === undefined ? undefined : await findKeyManager(ctx, q)
  const found = await searchKeys(ctx.db.read, rowsShown + 1, {
    ...(q !== undefined && { words: q }),
    ...(account && { owner: account.manager.owner.owner }),
    ...(created !== undefined && { after: { created: Number(created), prefix } }),
  })
  const cursorOf = (key: Key): string => makeCursor(key.created, key.prefix)
  const { page, next } = takePage(found, rowsShown, cursorOf)
  const idOf = ({ kind, owner }: Key) => accountOf({ kind, owner })
  const names = await accountNames(ctx, page.map(idOf))
  const nameOf = (key: Key): string => names.get(idOf(key)) ?? key.owner
  const accountLink = (key: Key): Part =>
    html`<a href="${accountKeysPath(nameOf(key))}"><bdi>${nameOf(key)}</bdi></a>`
  const none =
    q === undefined
      ? emptyState(
          t('No API keys yet'),
          t('Keys of agents, wallets and gateway accounts appear here.'),
        )
      : emptyState(t('No API keys found'), html`No key or account matches “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm(keysPath, t('Search by key, tag, note or account'), q)}
  ${notice(
    account &&
      html`Account <a href="${accountKeysPath(account.name)}"><bdi>${account.name}</bdi></a
        >: open it to create a key or a project.`,
  )}
  ${page.length > 0 ? await keyTable(ctx, page, nameOf, { head: t('Account'), of: accountLink }) : none}
  ${cursorPager(query, keysPath, next, { q })}`
  const lead = t('Keys that spend credits, with their limits. Search for an account to add one.')
  return consolePage({ place: keysPath, title: t('Keys'), lead, main })
}
