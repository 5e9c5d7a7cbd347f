import { changeWalletKey } from '../../apps/owners/wallet-operations.ts'
import { html } from '../../kernel/html.ts'
import { counterOf } from '../../money/keys/keys.ts'
import { sumSpendingByPeriod } from '../../money/ledger/spending.ts'
import * as ownKeys from '../../people/keys.ts'
import { statList } from '../components.ts'
import { revokeDialog } from '../confirm-dialog.ts'
import { form } from '../form.ts'
import { renderDateTime } from '../format.ts'
import { alert, button, type Form, postForm } from '../forms.ts'
import { budgetStats, keyFields, readKeyParams } from '../key-form.ts'
import type { Page } from '../layout.ts'
import type { UserRequest } from '../session.ts'
import { keysPath } from './keys.ts'
import { walletTabs } from './tabs.ts'

/** Renders the spending and the settings of a gateway key. Throws `not_found`. */
export async function getKeyPage(
  req: UserRequest,
  prefix: string,
  message?: string,
  typed?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const key = await ownKeys.getGatewayKey(ctx, visitor.person, prefix)
  const counter = counterOf(key)
  const spent = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  const action = `${keysPath}/${prefix}`
  const fields = html`${keyFields(key, { typed })}
    <p class="actions">${button('Save')}<a class="button quiet" href="/wallet#keys">Cancel</a></p>`
  const main = html`<h1>${key.name === null ? 'Unnamed key' : html`<bdi>${key.name}</bdi>`}</h1>
    <p class="lead"><code>${prefix}…</code>, created ${renderDateTime(key.created)}</p>
    ${walletTabs('/wallet')}${alert(message)} ${statList(budgetStats(key, spent))}
    ${postForm(token, action, fields, 'form key-form')}
    <section>
      <h2>Revoke</h2>
      <p>Requests with this key fail at once.</p>
      ${postForm(token, keysPath, revokeDialog(prefix), 'act')}
    </section>`
  return { title: 'API key', main }
}

/** Returns the form that saves the settings of a key. */
export const changeKey = (prefix: string) =>
  form(changeWalletKey, {
    params: { prefix },
    fields(sent, { ctx }) {
      const name = sent.text('name').trim()
      return { ...readKeyParams(sent, ctx.clock.now()), ...(name !== '' && { name }) }
    },
    then: '/wallet?done=key#keys',
  })
