import * as explore from '../../apps/explore/explore.ts'
import type { Item } from '../../apps/explore/schemas.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { t } from '../../kernel/words/message.ts'
import { makerSharePercent } from '../../money/prices.ts'
import { payingField } from '../acting-agent.ts'
import { statList } from '../components.ts'
import { formatAmount } from '../format.ts'
import { alert, button, type Form, hiddenField, postForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import type { UserRequest } from '../session.ts'
import { itemCover } from '../tiles.ts'

/** The price of a remix in credits; undefined where the maker turned remixes off. */
export const remixPrice = ({ remix, priceRemix }: Item): number | undefined =>
  remix === 'off' ? undefined : remix === 'price' ? (priceRemix ?? 0) : 0

const priceText = (price: number): Part =>
  price === 0
    ? t('Free')
    : html`${formatAmount(price, 'credit')}
        <span class="unit">${makerSharePercent}% for the maker</span>`

/** Asks a person to confirm a remix and its price. Throws `not_found`, `taken_down`. */
export async function remixPage(
  req: UserRequest,
  id: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const { item } = await explore.getItem(ctx, id)
  const { title, maker } = item
  const agents = await listActingAgents(ctx, visitor.person)
  const price = remixPrice(item)
  const offer: Part =
    price === undefined
      ? html`<p>The maker turned off remixes.</p>`
      : agents.length === 0
        ? html`<p>A remix belongs to one of your agents. <a href="/agents">Create an agent</a>.</p>`
        : html`<p>You get a copy with the code and files, and <bdi>${maker}</bdi> is credited.</p>
            ${statList([[t('Price'), priceText(price)]])}
            ${postForm(
              token,
              `/explore/${id}/remix`,
              html`${await payingField(ctx, agents, submitted?.text('as'))}${hiddenField('maxCredits', price)}${hiddenField('ref', newId())}
                <div class="actions">
                  ${button(price === 0 ? t('Remix') : t('Remix for {price}', { price: formatAmount(price, 'credit') }))}<a
                    class="button quiet"
                    href="/explore/${id}"
                    >Cancel</a
                  >
                </div>`,
            )}`
  const main = html`<article class="item">
    <div>${itemCover(ctx, item)}</div>
    <div>
      <h1>Remix <bdi>${title}</bdi></h1>
      <p class="by">
        By <a href="/explore/${maker}"><bdi>${maker}</bdi></a>
      </p>
      ${alert(message)} ${offer}
    </div>
  </article>`
  return { title: t('Remix {title}', { title }), section: '/explore', main }
}
