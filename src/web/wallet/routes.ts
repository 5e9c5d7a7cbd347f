import type { AppContext } from '../../context.ts'
import { csvResponse } from '../../core/csv.ts'
import { isRecord } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { formatHistory } from '../../gateway/usage/history.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { getRequestContext } from '../../http/request-context.ts'
import { counterOf } from '../../keys/keys.ts'
import { accountOf } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { findLatestSpending } from '../../ledger/spending.ts'
import { playBytesMax } from '../../limits.ts'
import { getSpending, listUsedModels } from '../../models/spending.ts'
import { openMethods } from '../../payments/coins/method.ts'
import { withQuery } from '../components.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { playgroundPath } from '../paths.ts'
import {
  pageRoutes,
  privatePage,
  redirectTo,
  requireUser,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { historyPage, readFilters, readRows } from './history.ts'
import { changeKeys } from './keys.ts'
import { ledgerPage } from './ledger.ts'
import { walletPage } from './overview.ts'
import {
  type ChatDraft,
  findRequestSummary,
  formatBalance,
  readDraft,
  runChat,
} from './playground-chat.ts'
import { emptyDraft, playgroundPage } from './playground.ts'
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
  const [account, last, spending, entries] = await Promise.all([
    ledger.balanceOf(ctx, owner),
    findLatestSpending(ctx, keys.map(counterOf)),
    getSpending(ctx, accountOf(owner), drawn),
    listEntries(ctx, owner, { limit: entriesShown }),
  ])
  const { gateway } = ctx.urls
  const cap = ctx.config.dailyCapCredits
  const form = { token, message, submitted, done: query.get('done') }
  const grants = `${ctx.urls.app}${withQuery('/console/grants', { to: name })}`
  const canPay = openMethods(ctx.config).length > 0
  const user = { wallet, grants, isOperator, canPay }
  return walletPage({ ...form, ...user, gateway, account, keys, last, cap, spending, entries })
}

async function getPlaygroundPage(
  req: UserRequest,
  draft: ChatDraft,
  message?: string,
): Promise<Page> {
  const left = formatBalance(await ledger.balanceOf(req.ctx, ownerOf(req)))
  return playgroundPage(req.ctx, { token: req.token, draft, left, message })
}

/** Runs a chat turn without JavaScript and renders the page with its result or error. */
async function completeTurn(req: UserRequest, draft: ChatDraft): Promise<Page> {
  const response = await runChat(req, draft, false)
  const body: unknown = await response.json()
  if (!response.ok) {
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined
    const wait = response.headers.get('retry-after')
    const page = await getPlaygroundPage(req, draft, String(error))
    return { ...page, status: response.status, headers: wait ? { 'retry-after': wait } : {} }
  }
  const requestId = getRequestContext(req.request).id
  const { summary } = (await findRequestSummary(req.ctx, ownerOf(req), requestId)) ?? {}
  const question = { role: 'user', content: draft.text } as const
  const reply = {
    role: 'assistant',
    content: messageText(body),
    ...(summary && { summary }),
  } as const
  const turns = [...(draft.turns ?? []), question, reply]
  return getPlaygroundPage(req, { ...draft, text: '', turns })
}

/** Returns the text of a chat completion. */
function messageText(body: unknown): string {
  const [choice]: unknown[] = isRecord(body) && Array.isArray(body.choices) ? body.choices : []
  const message = isRecord(choice) ? choice.message : undefined
  return isRecord(message) && typeof message.content === 'string' ? message.content : ''
}

export const walletRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/wallet', ({ input }) => userPage(input, getWalletPage))
    .get('/wallet/keys', () => redirectTo('/wallet#keys'))
    .post('/wallet/keys', ({ input }) => userForm(input, changeKeys, getWalletPage))
    .get('/wallet/history', ({ input }) =>
      userPage(input, async (req) => {
        const account = accountOf(ownerOf(req))
        const models = await listUsedModels(ctx.db.read, account, filterModelsMax)
        return historyPage(ctx, { account, models, query: req.query })
      }),
    )
    .get('/wallet/history.csv', ({ input }) =>
      requireUser(input, async (req) => {
        const filters = readFilters(req.query)
        return csvResponse(
          'history',
          formatHistory(await readRows(ctx, accountOf(ownerOf(req)), filters)),
        )
      }),
    )
    .get('/wallet/ledger', ({ input }) =>
      userPage(input, (req) => ledgerPage(ctx, ownerOf(req), req.query)),
    )
    .get(playgroundPath, ({ input }) =>
      userPage(input, (req) => getPlaygroundPage(req, emptyDraft(req.query.get('model') ?? ''))),
    )
    .post(
      playgroundPath,
      ({ input }) =>
        userForm(
          input,
          async (req, form) => {
            const draft = readDraft(form)
            return form.has('stream')
              ? runChat(req, draft, true)
              : privatePage(req, await completeTurn(req, draft))
          },
          (req, message, form) => getPlaygroundPage(req, readDraft(form), message),
          { bytesMax: playBytesMax },
        ),
      {
        // The model has its own deadline.
        transform: ({ request }) => {
          getRequestContext(request).hasOwnDeadline = true
        },
      },
    )
    .get(`${playgroundPath}/:request`, ({ input, params }) =>
      requireUser(input, async (req) => {
        const summary = await findRequestSummary(ctx, ownerOf(req), params.request)
        if (summary) return Response.json(summary, { headers: { 'cache-control': 'no-store' } })
        throw new ApiError('not_found', { what: 'request', see: 'Usage lists all requests.' })
      }),
    )
