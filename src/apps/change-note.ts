import { formatCredits, fromCredits } from '../kernel/money.ts'
import type { App } from './apps.ts'

/** Describes the effect of a change on Explore and on remixes. */
export function changedNote(before: App, after: App): string {
  const isSame = after.remix === before.remix && after.priceRemix === before.priceRemix
  return isSame ? listingNote(before, after) : `${listingNote(before, after)} ${termsNote(after)}`
}

function listingNote(before: App, after: App): string {
  if (after.listed === 'pending') {
    return 'It goes on Explore when the operator releases it from quarantine.'
  }
  if (after.listed !== 'on') {
    return before.listed === 'on'
      ? 'It is now off Explore. Its link works.'
      : 'It is not on Explore.'
  }
  if (before.listed !== 'on') return 'It is now on Explore.'
  return after.listedVersion === before.listedVersion
    ? 'It stays on Explore.'
    : `It stays on Explore, now with version ${after.listedVersion}.`
}

function termsNote({ remix, priceRemix }: App): string {
  if (remix === 'off') return 'Remixes are now off.'
  return remix === 'free'
    ? 'A remix is now free.'
    : `A remix costs ${formatCredits(fromCredits(priceRemix ?? 0))} credits now.`
}
