import { getSpending, listUsedModels } from '../../gateway/models/spending.ts'
import { formatHistory } from '../../gateway/usage/history.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { counterOf } from '../../money/keys/keys.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/entries.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { findLatestSpending } from '../../money/ledger/spending.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import * as ownKeys from '../../people/keys.ts'
import { walletOf } from '../../people/people.ts'
import type { AppContext } from '../../server/context.ts'
import { toResponse } from '../../server/http/routes.ts'
import { withQuery } from '../components.ts'
import { forItem, type Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
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
import { listKeySpending } from './key-spending.ts'
import { changeKeys, keyNames, keysPath } from './keys.ts'
import { ledgerPage } from './ledger.ts'
import { walletPage } from './overview.ts'
import { daysIn } from './spending.ts'

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
      userForm(input, ...forItem(params.key, changeKey, getKeyPage)),
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
