import { visibleVersion } from '../../apps/apps.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { getEarningsTotals } from '../../apps/me/statements/operations.ts'
import { listOpensByDay } from '../../apps/opens.ts'
import { presentItem } from '../../apps/present.ts'
import { getRecord } from '../../apps/runs/record.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { barChart } from '../chart.ts'
import { copyLine, section, starRating, statList } from '../components.ts'
import {
  formatAmount,
  formatBytes,
  formatCompact,
  formatCount,
  formatPercent,
  shortCredits,
} from '../format.ts'
import { button, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { recordSection } from '../packs/record.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

const daysShown = 30

/**
 * Renders an app's opens, ratings and earnings, and the track record of a pack; before there is
 * anything of these, the next step.
 */
export async function analyticsPage(studio: Studio): Promise<Page> {
  const { app, agent, req } = studio
  const { ctx } = req
  const isPack = isPackKind(app.kind)
  const [opensByDay, earned, record] = await Promise.all([
    listOpensByDay(ctx, app.id, daysShown),
    getEarningsTotals(ctx, agent, { item: app.id }),
    isPack ? getRecord(ctx, app.id) : undefined,
  ])
  const { rating, remixes, bytes, opens: all, link } = presentItem(ctx, app)
  if (all + rating.count + remixes + earned.sales + (record?.runs ?? 0) === 0) {
    return { ...studioPage(studio, '', firstStep(studio, link)), scripts: ['copy-line.js'] }
  }
  const dailyOpens = opensByDay.map(({ day, opens: value }) => ({ day, value }))
  const score = record && record.successRate !== null && formatPercent(record.successRate)
  const figures = statList([
    ...(record
      ? ([
          [t('Score'), score || '–'],
          [t('Runs'), record.runs],
        ] as const)
      : []),
    [isPack ? t('Loads') : t('Opens'), formatCompact(all)],
    [t('Rating'), html`${starRating(rating) || t('No ratings')}`],
    [t('Reviews'), formatCompact(rating.count)],
    [t('Remixes'), formatCompact(remixes)],
    [t('Earned'), formatAmount(earned.net, 'credit')],
    [t('Size'), formatBytes(bytes)],
  ])
  const chart = html`${barChart(dailyOpens, isPack ? 'load' : 'open')}
    <p class="small">
      ${isPack ? t('Each agent that loads it counts once a day.') : t('Each visitor counts once a day.')}
      Reviews are on the Explore page.
    </p>`
  const main = html`${figures}${record && (await recordSection(ctx, app))}
  ${(all > 0 || !isPack) && section(isPack ? t('Loads') : t('Opens'), chart)}
  ${
    (earned.sales > 0 || app.remix === 'price') &&
    section(
      t('Earnings'),
      earned.sales === 0
        ? html`<p class="small">No paid remixes yet.</p>`
        : html`<p>
            ${formatCount(earned.sales, 'sale')} for ${shortCredits(earned.gross)} credits. Platform
            fee: ${shortCredits(earned.fee)}. <bdi>@${agent.handle}</bdi> received
            ${shortCredits(earned.net)}.
          </p>`,
    )
  }`
  return {
    ...studioPage(studio, '', main),
    scripts: ['copy-line.js'],
    ...(isPack && { styles: ['packs.css'] }),
  }
}

/** The next step of an item without any use. */
function firstStep(studio: Studio, url: string): Part {
  const { app, req } = studio
  if (app.version === 0) {
    return emptyState(t('No versions yet'), t('The first version appears when the build succeeds.'))
  }
  const link = copyLine(url, t('Link'))
  if (app.listed === 'on') {
    return emptyState(
      t('Nobody has used it yet'),
      t('Explore shows version {version}. Share the link, and its figures appear here.', {
        version: visibleVersion(app),
      }),
      link,
    )
  }
  return emptyState(
    t('Nobody has used it yet'),
    t('It is not listed on Explore. List it, or share its link.'),
    html`${link}${postForm(req.token, studioPath(studio, 'explore'), button(t('List on Explore'), '', { name: 'store', value: 'yes' }), 'act')}`,
  )
}
