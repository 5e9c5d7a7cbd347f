import { type Html, html } from '../../core/html.ts'
import { toCredits } from '../../core/money.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import { counterOf, type Key } from '../../keys/keys.ts'
import type { LatestSpending } from '../../ledger/spending.ts'
import { keyNameCharsMax } from '../../limits.ts'
import { copyLine } from '../components.ts'
import { revokeDialog } from '../confirm-dialog.ts'
import { renderDate, shortCredits } from '../format.ts'
import { button, type Form, form, hiddenField, inputField, notice, readCredits } from '../forms.ts'
import { createAndShowKey, keyRefField } from '../new-key.ts'
import { redirectTo, type UserRequest } from '../session.ts'

const action = '/wallet/keys'

export interface KeysView {
  token: string
  /** The gateway's URL. */
  gateway: string
  keys: Key[]
  last: Map<string, LatestSpending>
  /** The default daily cap of a new key in credits; null is no limit. */
  cap: number | null
  /** The form that failed, with the typed values. */
  submitted?: Form | undefined
  /** The form that was submitted successfully. */
  done?: string | null | undefined
}

function keyRow({ token, last, submitted }: KeysView, key: Key): Html {
  const { prefix, name, created, dailyCap } = key
  const typed = submitted?.text('cap') === prefix ? submitted.text('dailyCap') : ''
  const cap = typed || (dailyCap === null ? undefined : toCredits(dailyCap))
  const used = last.get(counterOf(key))
  const spent = used
    ? html`last used ${renderDate(used.day)} · ${shortCredits(toCredits(used.today))} credits today`
    : 'never used'
  const limitForm = html`${hiddenField('cap', prefix)}<label class="field"
      ><span>Daily cap (credits)</span
      ><input
        type="number"
        name="dailyCap"
        value="${cap}"
        min="0"
        step="any"
        inputmode="decimal"
        autocomplete="off"
        placeholder="No limit" /></label
    ><button class="button quiet slim" aria-label="Save the daily cap of ${prefix}">Save</button>`
  return html`<li>
    <div>
      <p><code>${prefix}…</code>${name !== null && html` <strong><bdi>${name}</bdi></strong>`}</p>
      <p class="small">Created ${renderDate(created)} · ${spent}</p>
    </div>
    ${form(token, action, limitForm, 'cap')}${form(token, action, revokeDialog(prefix), 'act')}
  </li>`
}

export function walletKeySection(view: KeysView): Html {
  const { token, gateway, keys, cap, submitted, done } = view
  const typed = submitted?.has('name') ? submitted : undefined
  const doneMessage = new Map([
    ['cap', 'Daily cap updated.'],
    ['revoke', 'API key revoked.'],
  ]).get(done ?? '')
  const createForm = html`${keyRefField()}${inputField({ label: 'Key name', name: 'name', max: keyNameCharsMax, isOptional: true, value: typed?.text('name') })}${inputField({ label: 'Daily cap in credits (optional)', name: 'dailyCap', type: 'number', isOptional: true, value: typed?.text('dailyCap') ?? cap ?? undefined })}${button('Create API key', 'quiet')}`
  return html`<section id="keys">
    <h2>Gateway API keys</h2>
    ${notice(doneMessage)}
    <p class="small">Use these keys with any OpenAI client. Requests are paid from this wallet.</p>
    ${copyLine(`OPENAI_BASE_URL=${gateway}/v1`, 'Base URL for OpenAI clients')}
    ${
      keys.length > 0 &&
      html`<ul class="rows keys">
        ${keys.map((key) => keyRow(view, key))}
      </ul>`
    }
    ${form(token, action, createForm, 'form three-fields')}
  </section>`
}

/** Creates or revokes a key, or sets its daily cap. Throws `bad_request`, `not_found`. */
export async function changeKeys(req: UserRequest, submitted: Form): Promise<Response> {
  const { ctx, visitor } = req
  const [person, cap] = [visitor.person, readCredits(submitted, 'dailyCap') ?? null]
  const [revoked, capped] = [submitted.text('revoke'), submitted.text('cap')]
  if (revoked) await ownKeys.revoke(ctx, person, 'gateway', revoked)
  else if (capped) await ownKeys.setDailyCap(ctx, person, capped, cap)
  if (revoked || capped) return redirectTo(`/wallet?done=${revoked ? 'revoke' : 'cap'}#keys`)
  return createAndShowKey(req, submitted, {
    create: () => ownKeys.create(ctx, person, 'gateway', submitted.text('name'), cap),
    purpose: 'Anyone with this key can spend from your wallet.',
    back: '/wallet',
  })
}
