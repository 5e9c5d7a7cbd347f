import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { csvFile } from '../../core/csv.ts'
import { isRecord } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { formatCsv } from '../../gateway/usage/history.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { getRequestContext } from '../../http/request-context.ts'
import { accountOf } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { findLatestSpending } from '../../ledger/spending.ts'
import { playBytesMax } from '../../limits.ts'
import { getSpending, listUsedModels } from '../../models/spending.ts'
import { queryOf } from '../components.ts'
import type { SubmittedForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { playgroundPath } from '../paths.ts'
import {
  privatePage,
  requireSignIn,
  signedInForm,
  signedInPage,
  type SignedInRequest,
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
const modelsDrawn = 12
/** Models that a history can be narrowed to. */
const modelsListed = 300

/** The wallet of a person: what is in it, its keys, what it was used for, and a playground. */
export const walletRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(overviewRoutes(ctx, layout))
    .use(historyRoutes(ctx, layout))
    .use(playgroundRoutes(ctx, layout))

const ownerOf = ({ visitor }: SignedInRequest) => walletOf(visitor.person)

async function getWalletPage(
  signedIn: SignedInRequest,
  message?: string,
  submitted?: SubmittedForm,
): Promise<Page> {
  const { ctx, token, request, visitor } = signedIn
  const { wallet, name } = visitor.person
  const owner = ownerOf(signedIn)
  const keys = await ownKeys.list(ctx, visitor.person, 'gateway')
  const drawn = { days: daysIn(queryOf(request)), models: modelsDrawn }
  const [account, last, spending, entries] = await Promise.all([
    ledger.balanceOf(ctx, owner),
    findLatestSpending(
      ctx,
      keys.map(({ prefix }) => prefix),
    ),
    getSpending(ctx, accountOf(owner), drawn),
    listEntries(ctx, owner, { limit: entriesShown }),
  ])
  const { gateway } = ctx.urls
  const cap = ctx.config.dailyCapCredits
  const form = { token, message, submitted, done: queryOf(request).get('done') }
  return walletPage({ ...form, wallet, gateway, name, account, keys, last, cap, spending, entries })
}

const overviewRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/wallet', ({ request }) => signedInPage({ ctx, layout, request }, getWalletPage))
    .post(
      '/wallet/keys',
      ({ request }) => signedInForm({ ctx, layout, request }, changeKeys, getWalletPage),
      { parse: 'none' },
    )

const historyRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/wallet/history', ({ request }) =>
      signedInPage({ ctx, layout, request }, async (signedIn) => {
        const account = accountOf(ownerOf(signedIn))
        const models = await listUsedModels(ctx.db.read, account, modelsListed)
        return historyPage(ctx, { account, models, query: queryOf(request) })
      }),
    )
    .get('/wallet/history.csv', ({ request }) =>
      requireSignIn({ ctx, layout, request }, async (signedIn) => {
        const rows = await readRows(
          ctx,
          accountOf(ownerOf(signedIn)),
          readFilters(queryOf(request)),
        )
        return csvFile('history', formatCsv(rows))
      }),
    )
    .get('/wallet/ledger', ({ request }) =>
      signedInPage({ ctx, layout, request }, (signedIn) =>
        ledgerPage(ctx, ownerOf(signedIn), queryOf(request)),
      ),
    )

async function getPlaygroundPage(
  signedIn: SignedInRequest,
  draft: ChatDraft,
  message?: string,
): Promise<Page> {
  const left = formatBalance(await ledger.balanceOf(signedIn.ctx, ownerOf(signedIn)))
  return playgroundPage(signedIn.ctx, { token: signedIn.token, draft, left, message })
}

/** A draft as its answer leaves it: with two turns more, or with the gateway's sentence. */
async function completeTurn(signedIn: SignedInRequest, draft: ChatDraft): Promise<Page> {
  const answer = await runChat(signedIn, draft, false)
  const body: unknown = await answer.json()
  if (!answer.ok) {
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined
    const wait = answer.headers.get('retry-after')
    const headers = wait === null ? {} : { 'retry-after': wait }
    return {
      ...(await getPlaygroundPage(signedIn, draft, String(error))),
      status: answer.status,
      headers,
    }
  }
  const { told } =
    (await findRequestSummary(
      signedIn.ctx,
      ownerOf(signedIn),
      getRequestContext(signedIn.request).id,
    )) ?? {}
  const message = { role: 'user', content: draft.text } as const
  const answered = { role: 'assistant', content: messageText(body), ...(told && { told }) } as const
  return getPlaygroundPage(signedIn, {
    ...draft,
    text: '',
    turns: [...(draft.turns ?? []), message, answered],
  })
}

/** The text of a chat completion. */
function messageText(body: unknown): string {
  const [choice]: unknown[] = isRecord(body) && Array.isArray(body.choices) ? body.choices : []
  const message = isRecord(choice) ? choice.message : undefined
  return isRecord(message) && typeof message.content === 'string' ? message.content : ''
}

const playgroundRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get(playgroundPath, ({ request }) =>
      signedInPage({ ctx, layout, request }, (signedIn) =>
        getPlaygroundPage(signedIn, emptyDraft(queryOf(request).get('model') ?? '')),
      ),
    )
    .post(
      playgroundPath,
      ({ request }) =>
        signedInForm(
          { ctx, layout, request },
          async (signedIn, form) => {
            const draft = readDraft(form)
            return form.has('stream')
              ? runChat(signedIn, draft, true)
              : privatePage(signedIn, await completeTurn(signedIn, draft))
          },
          (signedIn, message, form) => getPlaygroundPage(signedIn, readDraft(form), message),
          { bytesMax: playBytesMax },
        ),
      { parse: 'none' },
    )
    .get(`${playgroundPath}/:request`, ({ request, params }) =>
      requireSignIn({ ctx, layout, request }, async (signedIn) => {
        const told = await findRequestSummary(ctx, ownerOf(signedIn), params.request)
        if (told) return Response.json(told, { headers: { 'cache-control': 'no-store' } })
        throw new ApiError('not_found', { what: 'request', see: 'Your history lists them.' })
      }),
    )
