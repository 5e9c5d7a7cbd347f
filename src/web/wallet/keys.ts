import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import * as ownKeys from '../../hosting/people/keys.ts'
import type { Key } from '../../keys/keys.ts'
import type { LatestSpending } from '../../ledger/spending.ts'
import { keyNameCharsMax } from '../../limits.ts'
import { copyLine, renderDate } from '../components.ts'
import { revokeDialog } from '../confirm-dialog.ts'
import { formatCredits } from '../format.ts'
import {
  form,
  hiddenField,
  inputField,
  notice,
  parseCredits,
  type SubmittedForm,
} from '../forms.ts'
import { createAndShowKey, keyRefField } from '../new-key.ts'
import { redirectTo, type SignedInRequest } from '../session.ts'

const action = '/wallet/keys'

/** What the keys of a wallet are drawn from. */
export interface KeysView {
  token: string
  /** The gateway's address. */
  gateway: string
  keys: Key[]
  last: Map<string, LatestSpending>
  /** What a new key may spend in a day unless one says otherwise; null is no cap. */
  cap: number | null
  /** What was typed into the form that was refused. */
  submitted?: SubmittedForm | undefined
  /** What a form has done. */
  done?: string | null | undefined
}

function keyRow(
  { token, last, submitted }: KeysView,
  { prefix, name, created, dailyCap }: Key,
): Html {
  const typed = submitted?.text('cap') === prefix ? submitted.text('dailyCap') : ''
  const cap = typed || (dailyCap === null ? undefined : toCredits(dailyCap))
  const used = last.get(prefix)
  const spent = used
    ? html`last spent with ${renderDate(used.day)} · ${formatCredits(toCredits(used.today))} credits
      today`
    : 'never spent with'
  const capping = html`${hiddenField('cap', prefix)}<label class="field"
      ><span>Credits a day</span
      ><input
        type="number"
        name="dailyCap"
        value="${cap}"
        min="0"
        step="any"
        inputmode="decimal"
        autocomplete="off"
        placeholder="No cap" /></label
    ><button class="button quiet slim" aria-label="Set the cap of ${prefix}">Set</button>`
  return html`<li>
    <div>
      <p><code>${prefix}…</code>${name !== null && html` <strong><bdi>${name}</bdi></strong>`}</p>
      <p class="small">Made ${renderDate(iso(created))} · ${spent}</p>
    </div>
    ${form(token, action, capping, 'cap')}${form(token, action, revokeDialog(prefix), 'act')}
  </li>`
}

/** The gateway keys of a wallet: what each spent, its cap, and a form for another. */
export function walletKeySection(view: KeysView): Html {
  const { token, gateway, keys, cap, submitted, done } = view
  const typed = submitted?.has('name') ? submitted : undefined
  const words = new Map([
    ['cap', 'The cap is set.'],
    ['revoke', 'The key is revoked.'],
  ]).get(done ?? '')
  const made = html`${keyRefField()}${inputField({ label: 'Name of a new key', name: 'name', max: keyNameCharsMax, isOptional: true, value: typed?.text('name') })}${inputField({ label: 'Credits a day (empty: no cap)', name: 'dailyCap', type: 'number', isOptional: true, value: typed?.text('dailyCap') ?? cap ?? undefined })}<button
      class="button quiet"
    >
      Make a key
    </button>`
  return html`<section id="keys">
    <h2>Gateway keys</h2>
    ${notice(words)}
    <p class="small">Any OpenAI client can spend from this wallet with one of these.</p>
    ${copyLine(`OPENAI_BASE_URL=${gateway}/v1`, 'The address for OpenAI clients')}
    ${
      keys.length > 0 &&
      html`<ul class="rows keys">
        ${keys.map((key) => keyRow(view, key))}
      </ul>`
    }
    ${form(token, action, made, 'form trio')}
  </section>`
}

/** Makes a key of the wallet, changes the cap of one, or revokes one. */
export async function changeKeys(
  signedIn: SignedInRequest,
  submitted: SubmittedForm,
): Promise<Response> {
  const { ctx, visitor } = signedIn
  const [person, cap] = [visitor.person, parseCredits(submitted, 'dailyCap') ?? null]
  const [revoked, capped] = [submitted.text('revoke'), submitted.text('cap')]
  if (revoked) await ownKeys.revoke(ctx, person, 'gateway', revoked)
  else if (capped) await ownKeys.setDailyCap(ctx, person, capped, cap)
  if (revoked || capped) return redirectTo(`/wallet?done=${revoked ? 'revoke' : 'cap'}#keys`)
  return createAndShowKey(signedIn, submitted, {
    make: () => ownKeys.create(ctx, person, 'gateway', submitted.text('name'), cap),
    what: 'Whoever holds it can spend from your wallet at the gateway.',
    back: '/wallet',
  })
}
