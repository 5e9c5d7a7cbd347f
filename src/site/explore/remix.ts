import * as explore from '../../apps/explore/explore.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { remixApp } from '../../apps/remix/operations.ts'
import { copyIdOf } from '../../apps/remix/remix.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { t } from '../../kernel/words/message.ts'
import { makerSharePercent } from '../../money/prices.ts'
import { statList } from '../components.ts'
import { fieldsOf, form } from '../form.ts'
import { formatAmount } from '../format.ts'
import { alert, button, type Form, hiddenField, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { pageRoutes, payingField, userForm, userPage, type UserRequest } from '../session.ts'
import { itemCover } from '../tiles.ts'
import { remixPrice } from './item-sections.ts'

/** Remixes an item as one of a person's agents. */
export const remixRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/explore/:name/remix', ({ input, params: { name } }) =>
      userPage(input, (req) => remixPage(req, name)),
    )
    .post('/explore/:name/remix', ({ input, params: { name } }) =>
      userForm(input, remixForm(name), (req, message, sent) => remixPage(req, name, message, sent)),
    )

const priceText = (price: number): Part =>
  price === 0
    ? t('Free')
    : html`${formatAmount(price, 'credit')}
        <span class="unit">${makerSharePercent}% for the maker</span>`

/** Asks a person to confirm a remix and its price. Throws `not_found`, `taken_down`. */
async function remixPage(
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

/** Copies an item at the confirmed price. The same form never pays twice. */
const remixForm = (id: string) =>
  form(remixApp, {
    params: { id },
    fields(sent) {
      const isConfirmed =
        /^\d{1,15}$/.test(sent.text('maxCredits')) && idPattern.test(sent.text('ref'))
      return isConfirmed
        ? fieldsOf(remixApp, sent)
        : rejectRequest(t('Check the price and confirm the remix.'))
    },
    then: (copy) => `/studio/${copyIdOf(copy)}/${'app' in copy ? 'build' : 'files'}?done=remix`,
  })
