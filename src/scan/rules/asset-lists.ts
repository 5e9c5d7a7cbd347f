import { readAssetRequests } from '../asset-requests.ts'
import type { Hit } from '../findings.ts'
import type { Page } from '../page.ts'

/** Invalid asset lists: the page works, but its assets cannot be generated. */
export function* assetLists(page: Page): Generator<Hit> {
  for (const { at, help } of readAssetRequests(page).problems)
    yield { code: 'assets.malformed', at, help }
}
