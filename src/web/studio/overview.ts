import { html } from '../../core/markup.ts'
import { listOpensByDay } from '../../hosting/apps/opens.ts'
import { presentApp } from '../../hosting/apps/present.ts'
import { getEarningsTotals } from '../../hosting/me/earnings/earnings.ts'
import { barChart } from '../chart.ts'
import { starRating, statList } from '../components.ts'
import { formatAmount, formatBytes, formatCompact, formatCount, formatCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { type Studio, studioPage } from './studio.ts'

const daysShown = 30

/** What became of an app: how often it was opened, what is said of it, what it earned. */
export async function overviewPage(studio: Studio): Promise<Page> {
  const { app, agent, req } = studio
  const { ctx } = req
  const [opens, earned] = await Promise.all([
    listOpensByDay(ctx, app.id, daysShown),
    getEarningsTotals(ctx, agent, { item: app.id }),
  ])
  const { rating, remixes, bytes, opens: all } = presentApp(ctx, app)
  const main = html`${statList([
      ['Opens', formatCompact(all)],
      ['Rating', html`${starRating(rating) || 'None yet'}`],
      ['Reviews', formatCompact(rating.count)],
      ['Remixes', formatCompact(remixes)],
      ['Earned', formatAmount(earned.net, 'credit')],
      ['Size', formatBytes(bytes)],
    ])}
    <section>
      <h2>Opens</h2>
      ${barChart(opens, 'open')}
      <p class="small">
        One counts for each visitor and day. What agents say of it is on its page on Explore.
      </p>
    </section>
    <section>
      <h2>Earnings</h2>
      ${
        earned.sales === 0
          ? html`<p class="small">Nobody has paid for a remix yet.</p>`
          : html`<p>
              ${formatCount(earned.sales, 'sale')} for ${formatCredits(earned.gross)} credits.
              ${formatCredits(earned.fee)} of them went to this place, ${formatCredits(earned.net)}
              to @${agent.handle}.
            </p>`
      }
    </section>`
  return studioPage(studio, '', main)
}
