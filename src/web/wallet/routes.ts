import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { csvFile } from '../../core/csv.ts'
import { isRecord } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { csvOf } from '../../gateway/usage/usage.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { requestContextOf } from '../../http/request-context.ts'
import { accountOf } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { lastSpent } from '../../ledger/spending.ts'
import { playBytesMax } from '../../limits.ts'
import { modelsOf, spendingOf } from '../../models/spending.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import { playPath } from '../paths.ts'
import { asOwn, type Own, ownForm, ownPage, shown } from '../people/desk.ts'
import type { Form } from '../people/form.ts'
import { answerTo, type Draft, draftOf, leftIn, toldOf } from './asking.ts'
import { historyPage, rowsOf, wantedIn } from './history.ts'
import { changeKeys } from './keys.ts'
import { ledgerPage } from './ledger.ts'
import { walletPage } from './overview.ts'
import { emptyDraft, playPage } from './playground.ts'
import { daysIn } from './spent.ts'

const entriesShown = 10
const modelsDrawn = 12
/** Models that a history can be narrowed to. */
const modelsListed = 300

/** The wallet of a person: what is in it, its keys, what it was used for, and a playground. */
export const walletPages = (ctx: AppContext, layout: Layout) =>
  new Elysia().use(keeping(ctx, layout)).use(looking(ctx, layout)).use(playing(ctx, layout))

const ownerOf = ({ visitor }: Own) => walletOf(visitor.person)

async function walletView(own: Own, said?: string, sent?: Form): Promise<Page> {
  const { ctx, token, request, visitor } = own
  const { wallet, name } = visitor.person
  const owner = ownerOf(own)
  const keys = await ownKeys.listOf(ctx, visitor.person, 'gateway')
  const drawn = { days: daysIn(queryOf(request)), models: modelsDrawn }
  const [account, last, spending, entries] = await Promise.all([
    ledger.balanceOf(ctx, owner),
    lastSpent(
      ctx,
      keys.map(({ prefix }) => prefix),
    ),
    spendingOf(ctx, accountOf(owner), drawn),
    listEntries(ctx, owner, { limit: entriesShown }),
  ])
  const { gateway } = ctx.urls
  const cap = ctx.config.dailyCapCredits
  const form = { token, said, sent, done: queryOf(request).get('done') }
  return walletPage({ ...form, wallet, gateway, name, account, keys, last, cap, spending, entries })
}

const keeping = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/wallet', ({ request }) => ownPage({ ctx, layout, request }, walletView))
    .post(
      '/wallet/keys',
      ({ request }) => ownForm({ ctx, layout, request }, changeKeys, walletView),
      { parse: 'none' },
    )

const looking = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/wallet/history', ({ request }) =>
      ownPage({ ctx, layout, request }, async (own) => {
        const account = accountOf(ownerOf(own))
        const models = await modelsOf(ctx.db.read, account, modelsListed)
        return historyPage(ctx, { account, models, query: queryOf(request) })
      }),
    )
    .get('/wallet/history.csv', ({ request }) =>
      asOwn({ ctx, layout, request }, async (own) => {
        const rows = await rowsOf(ctx, accountOf(ownerOf(own)), wantedIn(queryOf(request)))
        return csvFile('history', csvOf(rows))
      }),
    )
    .get('/wallet/ledger', ({ request }) =>
      ownPage({ ctx, layout, request }, (own) => ledgerPage(ctx, ownerOf(own), queryOf(request))),
    )

async function playView(own: Own, draft: Draft, said?: string): Promise<Page> {
  const left = leftIn(await ledger.balanceOf(own.ctx, ownerOf(own)))
  return playPage(own.ctx, { token: own.token, draft, left, said })
}

/** A draft as its answer leaves it: with two turns more, or with the gateway's sentence. */
async function played(own: Own, draft: Draft): Promise<Page> {
  const answer = await answerTo(own, draft, false)
  const body: unknown = await answer.json()
  if (!answer.ok) {
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined
    const wait = answer.headers.get('retry-after')
    const headers = wait === null ? {} : { 'retry-after': wait }
    return { ...(await playView(own, draft, String(error))), status: answer.status, headers }
  }
  const { told } = (await toldOf(own.ctx, ownerOf(own), requestContextOf(own.request).id)) ?? {}
  const said = { role: 'user', content: draft.text } as const
  const answered = { role: 'assistant', content: contentOf(body), ...(told && { told }) } as const
  return playView(own, { ...draft, text: '', turns: [...(draft.turns ?? []), said, answered] })
}

/** The text of a chat completion. */
function contentOf(body: unknown): string {
  const [choice]: unknown[] = isRecord(body) && Array.isArray(body.choices) ? body.choices : []
  const message = isRecord(choice) ? choice.message : undefined
  return isRecord(message) && typeof message.content === 'string' ? message.content : ''
}

const playing = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get(playPath, ({ request }) =>
      ownPage({ ctx, layout, request }, (own) =>
        playView(own, emptyDraft(queryOf(request).get('model') ?? '')),
      ),
    )
    .post(
      playPath,
      ({ request }) =>
        ownForm(
          { ctx, layout, request },
          async (own, form) => {
            const draft = draftOf(form)
            return form.has('stream')
              ? answerTo(own, draft, true)
              : shown(own, await played(own, draft))
          },
          (own, said, form) => playView(own, draftOf(form), said),
          { bytesMax: playBytesMax },
        ),
      { parse: 'none' },
    )
    .get(`${playPath}/:request`, ({ request, params }) =>
      asOwn({ ctx, layout, request }, async (own) => {
        const told = await toldOf(ctx, ownerOf(own), params.request)
        if (told) return Response.json(told, { headers: { 'cache-control': 'no-store' } })
        throw new ApiError('not_found', { what: 'request', see: 'Your history lists them.' })
      }),
    )
