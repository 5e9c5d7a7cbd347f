import { listTopUses } from '../../gateway/models/spending.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { toCredits } from '../../kernel/money.ts'
import { day, lastDays } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { leftToRight } from '../../kernel/words/words.ts'
import { findByPrefixes, type Key } from '../../money/keys/keys.ts'
import {
  type DailyAmount,
  listDailySpending,
  listTopKeys,
  type Spender,
} from '../../money/ledger/reports.ts'
import { section } from '../../site/components.ts'
import { formatCompact, formatTenths, renderCredits } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { accountLinks, consolePage } from './components.ts'
import { moneyRanges, rangePicker, readRange, timeChart } from './time-chart.ts'

const place = '/console/spend'
const rowsShown = 25

function share(amount: bigint, total: bigint): string {
  if (total === 0n) return '–'
  const tenths = Number((amount * 1_000n) / total)
  return leftToRight(
    amount > 0n && tenths === 0 ? `<${formatTenths(0.1)} %` : `${formatTenths(tenths / 10)} %`,
  )
}

const amounts: Column[] = [{ number: msg('Credits'), onPhone: 'figure' }, { number: msg('Share') }]

/** A total with what it counts. */
const totalLine = (total: bigint, text: Text): Html =>
  html`<p class="small"><strong>${renderCredits(total)} ${t('credits')}.</strong> ${text}</p>`

const list = (title: Text, heads: Column[], rows: Part[][]): Html =>
  html`<h3>${title}</h3>
    ${dataTable(title, heads, rows, t('Nothing was spent in this time.'))}`

/** Charts the spending by day; nothing for a single day. */
const spentChart = (byDay: DailyAmount[]): Part =>
  byDay.length > 1 &&
  timeChart({
    title: t('Spent by day'),
    unit: 'cr',
    times: byDay.map(({ day: on }) => Date.parse(on)),
    lines: [
      { name: t('Spent'), color: 'accent', values: byDay.map(({ amount }) => toCredits(amount)) },
    ],
  })

/** Renders who spends what on which models, by key, account and model. */
export async function spendPage({ ctx, query }: UserRequest): Promise<Page> {
  const range = readRange(query, moneyRanges, 7 * day)
  const days = lastDays(ctx.clock, range.points)
  const since = days[0] ?? ''
  const [byDay, keys, accounts, models, calls] = await Promise.all([
    listDailySpending(ctx, days),
    listTopKeys(ctx, since, rowsShown),
    listTopUses(ctx, 'account', since, rowsShown),
    listTopUses(ctx, 'model', since, rowsShown),
    listTopUses(ctx, 'day', since, days.length),
  ])
  const prefixes = keys.map(({ key }) => key)
  const known = await findByPrefixes(ctx.db.read, prefixes)
  const owners = [
    ...[...known.values()].map(({ kind, owner }) => `${kind}:${owner}`),
    ...keys.flatMap(({ key }) => (known.has(key) ? [] : [`agent:${key}`, `gateway:${key}`])),
    ...keys.flatMap(({ key }) => inApp(key).person ?? []),
  ]
  const names = await accountLinks(ctx, [...owners, ...accounts.map(({ name }) => name)])
  const total = byDay.reduce((sum, { amount }) => sum + amount, 0n)
  const ofCalls = calls.reduce((sum, { amount }) => sum + amount, 0n)
  const row = (name: Part, { requests, amount }: (typeof models)[number]): Part[] => [
    name,
    formatCompact(requests),
    renderCredits(amount),
    share(amount, ofCalls),
  ]
  const byKey = list(
    t('By key'),
    [{ long: t('Key') }, { long: t('Owner') }, ...amounts],
    keys.map((one) => keyRow(one, known, names, total)),
  )
  const byAccount = list(
    t('By person, agent and account'),
    [{ long: t('Account') }, { number: t('Model calls') }, ...amounts],
    accounts.map((one) => row(names.get(one.name) ?? html`<code>${one.name}</code>`, one)),
  )
  const byModel = list(
    t('By model'),
    [{ long: t('Model') }, { number: t('Calls') }, ...amounts],
    models.map((one) => row(html`<code>${one.name}</code>`, one)),
  )
  const main = html`${rangePicker(place, moneyRanges, range)} ${spentChart(byDay)}
    ${section(
      t('All that keys spend'),
      html`${totalLine(total, t('Settled and on hold: calls of models, builds, assets, remixes and runs.'))}
      ${byKey}`,
    )}
    ${section(
      t('Calls of models'),
      html`${totalLine(ofCalls, t('Settled calls of models alone, a part of the spending above.'))}
      ${byAccount}${byModel}`,
    )}
    <p class="small below">Days are those of UTC.</p>`
  return consolePage({ place, title: t('Spending'), main, scripts: ['time-chart.js'] })
}

/** Splits the counter of what a person spends in an app into the app and the account. */
function inApp(key: string): { app?: string; person?: string } {
  const [, app, player] = /^app:([\w-]+):([\w-]+)$/.exec(key) ?? []
  return app === undefined ? {} : { app, person: `person:${player}` }
}

function keyRow(
  { key, amount }: Spender,
  known: Map<string, Key>,
  names: Map<string, Html>,
  total: bigint,
): Part[] {
  const found = known.get(key)
  // All keys of an agent have one counter, as has the web session of a person.
  const owner = names.get(found ? `${found.kind}:${found.owner}` : `agent:${key}`)
  const { app, person: player = '' } = inApp(key)
  const person = names.get(`gateway:${key}`) ?? names.get(player)
  const name = found?.name ?? ''
  const label = found
    ? html`${name !== '' && html`<bdi>${name}</bdi>`} <code>${key}</code>`
    : owner
      ? t('All keys')
      : app
        ? html`In <a href="/console/apps/${app}">an app</a>`
        : person
          ? t('Web session')
          : html`<code>${key}</code>`
  return [label, owner ?? person ?? '–', renderCredits(amount), share(amount, total)]
}
