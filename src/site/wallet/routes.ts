import { getSpending, listUsedModels } from '../../gateway/models/spending.ts'
import { groupUsage } from '../../gateway/models/usage-groups.ts'
import { formatHistory } from '../../gateway/usage/history.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { isApiError } from '../../kernel/errors.ts'
import { html } from '../../kernel/html.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { lastDays } from '../../kernel/time.ts'
import { counterOf } from '../../money/keys/keys.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/entries.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { findLatestSpending } from '../../money/ledger/spending.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import * as ownKeys from '../../people/keys.ts'
import { walletOf } from '../../people/people.ts'
import { withQuery } from '../components.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { ledgerTable } from '../ledger-table.ts'
import { cursorPager, emptyState, numberCursor } from '../lists.ts'
import {
  pageRoutes,
  redirectTo,
  requireUser,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { historyPage, readFilters, readRows } from './history.ts'
import { changeKey, getKeyPage } from './key-page.ts'
import { changeKeys, keyNames, keysPath } from './keys.ts'
import { walletPage } from './overview.ts'
import { daysIn, type KeySpending } from './spending.ts'
import { walletTabs } from './tabs.ts'

const entriesShown = 10
const chartModelsMax = 12
/** The number of models in the filter of the usage page. */
const filterModelsMax = 300

const ownerOf = ({ visitor }: UserRequest) => walletOf(visitor.person)

async function getWalletPage(req: UserRequest, message?: string, submitted?: Form): Promise<Page> {
  const { ctx, token, query, visitor } = req
  const { wallet, name, operator: isOperator } = visitor.person
  const owner = ownerOf(req)
  const keys = await ownKeys.list(ctx, visitor.person, 'gateway')
  const drawn = { days: daysIn(query), models: chartModelsMax }
  const [account, last, spending, entries, byKey] = await Promise.all([
    ledger.balanceOf(ctx, owner),
    findLatestSpending(ctx, keys.map(counterOf)),
    getSpending(ctx, accountOf(owner), drawn),
    listEntries(ctx, owner, { limit: entriesShown }),
    listKeySpending(ctx, wallet, drawn.days),
  ])
  const { gateway } = ctx.urls
  const cap = ctx.config.dailyCapCredits
  const form = { token, message, submitted, done: query.get('done') }
  const grants = `${ctx.urls.app}${withQuery('/console/grants', { to: name })}`
  const canPay = openMethods(ctx.config).length > 0
  const user = { wallet, grants, isOperator, canPay }
  return walletPage({
    ...form,
    ...user,
    gateway,
    account,
    keys,
    last,
    cap,
    spending,
    byKey,
    entries,
  })
}

export const walletRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/wallet', ({ input }) => userPage(input, getWalletPage))
    .get('/wallet/keys', () => redirectTo('/wallet#keys'))
    .post('/wallet/keys', ({ input }) => userForm(input, changeKeys, getWalletPage))
    .get(`${keysPath}/:key`, ({ input, params }) =>
      userPage(input, (req) => getKeyPage(req, params.key)),
    )
    .post(`${keysPath}/:key`, ({ input, params }) =>
      userForm(input, changeKey(params.key), (req, message, sent) =>
        getKeyPage(req, params.key, message, sent),
      ),
    )
    .get('/wallet/history', ({ input }) =>
      userPage(input, async (req) => {
        const account = accountOf(ownerOf(req))
        const models = await listUsedModels(ctx.db.read, account, filterModelsMax)
        const names = await keyNames(ctx, req.visitor.person.wallet)
        return historyPage(ctx, { account, models, names, query: req.query })
      }),
    )
    .get('/wallet/history.csv', ({ input }) =>
      requireUser(input, async (req) => {
        const filters = readFilters(req.query)
        const rows = await readRows(ctx, accountOf(ownerOf(req)), filters)
        return toResponse(ctx, req.request, csv('history', formatHistory(rows)))
      }),
    )
    .get('/wallet/ledger', ({ input }) =>
      userPage(input, (req) => ledgerPage(ctx, ownerOf(req), req.query)),
    )

const rowsShown = 50

/** Renders all transactions, newest first. Throws `bad_request` for a cursor of another list. */
async function ledgerPage(ctx: AppContext, owner: Owner, query: URLSearchParams): Promise<Page> {
  const rows = await listEntries(ctx, owner, { before: numberCursor(query), limit: rowsShown + 1 })
  const { page, next } = takePage(rows, rowsShown, (entry) => makeCursor(entry.number))
  const none = emptyState(
    'No transactions yet',
    'Added credits, transfers to agents and gateway spending appear here.',
    html`<a class="button quiet" href="/wallet#add">Add credits</a>`,
  )
  const main = html`<h1>Transactions</h1>
    <p class="lead">Every change of this wallet, with the balance after it.</p>
    ${walletTabs('/wallet/ledger')} ${ledgerTable(page, none)}
    ${cursorPager(query, '/wallet/ledger', next)}`
  return { title: 'Transactions', main }
}

const keysShownMax = 12

/** Returns a wallet's spending by key, highest first; undefined for too many calls. */
async function listKeySpending(
  ctx: AppContext,
  wallet: string,
  days: number,
): Promise<KeySpending[] | undefined> {
  const account = accountOf({ kind: 'gateway', owner: wallet })
  const from = Date.parse(lastDays(ctx.clock, days)[0] ?? '')
  try {
    const [groups, names] = await Promise.all([
      groupUsage(ctx.db.read, { account, from, to: ctx.clock.now() }, ['key']),
      keyNames(ctx, wallet),
    ])
    return groups.slice(0, keysShownMax).map(({ key, requests, charged }) => ({
      label: key ? (names.get(key) ?? `${key}…`) : 'Playground',
      requests,
      amount: charged,
    }))
  } catch (error) {
    if (isApiError(error, 'bad_request')) return undefined
    throw error
  }
}
