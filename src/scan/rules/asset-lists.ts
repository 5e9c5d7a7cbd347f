import { asksOf } from '../asset-asks.ts'
import type { Hit } from '../findings.ts'
import type { Page } from '../page.ts'

/** Lists of wanted assets that cannot be read: the page works, but nothing can be made for it. */
export function* assetLists(page: Page): Generator<Hit> {
  for (const { at, help } of asksOf(page).faults) yield { code: 'assets.malformed', at, help }
}
