import { type Html, html } from '../kernel/html.ts'
import { type NanoUsd, toCredits, zero } from '../kernel/money.ts'
import { renderCredits } from './format.ts'

/** Spending against a cap, with a bar. */
export function spendingBar(spent: NanoUsd, cap: NanoUsd | null): Html {
  if (cap === null) return html`${renderCredits(spent)} <span class="unit">/ no cap</span>`
  const share = cap === zero ? 100 : Math.min(100, (toCredits(spent) / toCredits(cap)) * 100)
  return html`${renderCredits(spent)} <span class="unit">/</span> ${renderCredits(cap)}
    <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      <rect class="${share >= 90 && 'full'}" width="${share.toFixed(2)}" height="6" />
    </svg>`
}
