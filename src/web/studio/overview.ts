import { html } from '../../core/markup.ts'
import { opensByDay } from '../../hosting/apps/opens.ts'
import { present } from '../../hosting/apps/present.ts'
import { totalsOf } from '../../hosting/me/earnings.ts'
import { inCredits, told } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { counted, few, numbers, sizeOf, stars } from '../parts.ts'
import { bars } from '../people/chart.ts'
import { type Studio, studioPage } from './studio.ts'

const daysShown = 30

/** What became of an app: how often it was opened, what is said of it, what it earned. */
export async function overviewPage(studio: Studio): Promise<Page> {
  const { app, agent, own } = studio
  const { ctx } = own
  const [opens, earned] = await Promise.all([
    opensByDay(ctx, app.id, daysShown),
    totalsOf(ctx, agent, { item: app.id }),
  ])
  const { rating, remixes, bytes, opens: all } = present(ctx, app)
  const main = html`${numbers([
      ['Opens', few(all)],
      ['Rating', html`${stars(rating) || 'None yet'}`],
      ['Reviews', few(rating.count)],
      ['Remixes', few(remixes)],
      ['Earned', told(earned.net, 'credit')],
      ['Size', sizeOf(bytes)],
    ])}
    <section>
      <h2>Opens</h2>
      ${bars(opens, 'open')}
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
              ${counted(earned.sales, 'sale')} for ${inCredits(earned.gross)} credits.
              ${inCredits(earned.fee)} of them went to this place, ${inCredits(earned.net)} to
              @${agent.handle}.
            </p>`
      }
    </section>`
  return studioPage(studio, '', main)
}
