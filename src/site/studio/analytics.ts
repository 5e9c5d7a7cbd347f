import { getEarningsTotals } from '../../apps/me/statements/earnings.ts'
import { listOpensByDay } from '../../apps/opens.ts'
import { presentItem } from '../../apps/present.ts'
import { html } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { barChart } from '../chart.ts'
import { section, starRating, statList } from '../components.ts'
import { formatAmount, formatBytes, formatCompact, formatCount, shortCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { type Studio, studioPage } from './studio.ts'

const daysShown = 30

/** Renders an app's opens, ratings and earnings. */
export async function analyticsPage(studio: Studio): Promise<Page> {
  const { app, agent, req } = studio
  const { ctx } = req
  const [opensByDay, earned] = await Promise.all([
    listOpensByDay(ctx, app.id, daysShown),
    getEarningsTotals(ctx, agent, { item: app.id }),
  ])
  const dailyOpens = opensByDay.map(({ day, opens: value }) => ({ day, value }))
  const { rating, remixes, bytes, opens: all } = presentItem(ctx, app)
  const main = html`${statList([
    [t('Opens'), formatCompact(all)],
    [t('Rating'), html`${starRating(rating) || t('No ratings')}`],
    [t('Reviews'), formatCompact(rating.count)],
    [t('Remixes'), formatCompact(remixes)],
    [t('Earned'), formatAmount(earned.net, 'credit')],
    [t('Size'), formatBytes(bytes)],
  ])}
  ${section(
    t('Opens'),
    html`${barChart(dailyOpens, 'open')}
      <p class="small">Each visitor counts once a day. Reviews are on the Explore page.</p>`,
  )}
  ${section(
    t('Earnings'),
    html`${
      earned.sales === 0
        ? html`<p class="small">No paid remixes yet.</p>`
        : html`<p>
            ${formatCount(earned.sales, 'sale')} for ${shortCredits(earned.gross)} credits. Platform
            fee: ${shortCredits(earned.fee)}. <bdi>@${agent.handle}</bdi> received
            ${shortCredits(earned.net)}.
          </p>`
    }`,
  )}`
  return studioPage(studio, '', main)
}
