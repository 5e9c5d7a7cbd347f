import { Elysia } from 'elysia'

import { csvFile } from '../../core/csv.ts'
import { isRecord } from '../../core/shape.ts'
import { visitOf } from '../../core/visit.ts'
import { csvOf } from '../../gateway/usage/usage.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { walletOf } from '../../hosting/people/people.ts'
import type { House } from '../../house.ts'
import { accountOf } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import * as ledger from '../../ledger/ledger.ts'
import { lastSpent } from '../../ledger/spending.ts'
import { playBytesMax } from '../../limits.ts'
import { modelsOf, spendingOf } from '../../models/spending.ts'
import { Refusal } from '../../refusals.ts'
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
export const walletPages = (house: House, layout: Layout) =>
  new Elysia().use(keeping(house, layout)).use(looking(house, layout)).use(playing(house, layout))

const ownerOf = ({ visitor }: Own) => walletOf(visitor.person)

async function walletView(own: Own, said?: string, sent?: Form): Promise<Page> {
  const { house, token, request, visitor } = own
  const { wallet, name } = visitor.person
  const owner = ownerOf(own)
  const keys = await ownKeys.listOf(house, visitor.person, 'gateway')
  const drawn = { days: daysIn(queryOf(request)), models: modelsDrawn }
  const [account, last, spending, entries] = await Promise.all([
    ledger.balanceOf(house, owner),
    lastSpent(
      house,
      keys.map(({ prefix }) => prefix),
    ),
    spendingOf(house, accountOf(owner), drawn),
    listEntries(house, owner, { limit: entriesShown }),
  ])
  const { gateway } = house.urls
  const cap = house.config.dailyCapCredits
  const form = { token, said, sent, done: queryOf(request).get('done') }
  return walletPage({ ...form, wallet, gateway, name, account, keys, last, cap, spending, entries })
}

const keeping = (house: House, layout: Layout) =>
  new Elysia()
    .get('/wallet', ({ request }) => ownPage({ house, layout, request }, walletView))
    .post(
      '/wallet/keys',
      ({ request }) => ownForm({ house, layout, request }, changeKeys, walletView),
      { parse: 'none' },
    )

const looking = (house: House, layout: Layout) =>
  new Elysia()
    .get('/wallet/history', ({ request }) =>
      ownPage({ house, layout, request }, async (own) => {
        const account = accountOf(ownerOf(own))
        const models = await modelsOf(house.db.read, account, modelsListed)
        return historyPage(house, { account, models, query: queryOf(request) })
      }),
    )
    .get('/wallet/history.csv', ({ request }) =>
      asOwn({ house, layout, request }, async (own) => {
        const rows = await rowsOf(house, accountOf(ownerOf(own)), wantedIn(queryOf(request)))
        return csvFile('history', csvOf(rows))
      }),
    )
    .get('/wallet/ledger', ({ request }) =>
      ownPage({ house, layout, request }, (own) =>
        ledgerPage(house, ownerOf(own), queryOf(request)),
      ),
    )

async function playView(own: Own, draft: Draft, said?: string): Promise<Page> {
  const left = leftIn(await ledger.balanceOf(own.house, ownerOf(own)))
  return playPage(own.house, { token: own.token, draft, left, said })
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
  const { told } = (await toldOf(own.house, ownerOf(own), visitOf(own.request).id)) ?? {}
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

const playing = (house: House, layout: Layout) =>
  new Elysia()
    .get(playPath, ({ request }) =>
      ownPage({ house, layout, request }, (own) =>
        playView(own, emptyDraft(queryOf(request).get('model') ?? '')),
      ),
    )
    .post(
      playPath,
      ({ request }) =>
        ownForm(
          { house, layout, request },
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
      asOwn({ house, layout, request }, async (own) => {
        const told = await toldOf(house, ownerOf(own), params.request)
        if (told) return Response.json(told, { headers: { 'cache-control': 'no-store' } })
        throw new Refusal('not_found', { what: 'request', see: 'Your history lists them.' })
      }),
    )
