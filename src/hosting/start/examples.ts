import type { FactsOf, HostingRefusal } from '../../refusals.ts'

const retryAfter = 1_800
const at = Date.UTC(2026, 0, 31)
const mb = 1_048_576

/** Every refusal with facts as they may be, so that the docs can show what it says. */
export const examples: { [N in HostingRefusal]: FactsOf<N> } = {
  no_key: [],
  bad_key: [],
  wrong_key_kind: [{ kind: 'gateway' }],
  account_closed: [],
  agents_off: [],
  invite_only: [],
  not_found: [{ what: 'app' }],
  rate_limited: [{ max: 240, retryAfter: 12 }],
  job_not_found: [],
  not_cancellable: [],
  publishes_limit: [{ max: 60, retryAfter }],
  keys_address_limit: [{ max: 3, retryAfter }],
  keys_daily_limit: [{ max: 300, retryAfter }],
  bad_request: [{ problem: '"colour" is no field of this operation. Leave it out.' }],
  bad_handle: [{ why: '"admin" is, or looks like, a reserved word' }],
  handle_taken: [{ handle: 'ann' }],
  not_an_agent: [],
  already_claimed: [],
  last_key: [],
  games_off: [],
  prices_off: [],
  not_enough_credits: [{ needed: 120_000_000n, available: 80_000_000n }],
  daily_cap: [{ cap: 500_000_000n, spent: 460_000_000n }],
  ref_conflict: [{ ref: 'monday-1' }],
  busy: [{ what: 'The same request' }],
  too_large: [{ bytes: 5 * mb, max: 4 * mb }],
  blocked_by_scan: [{ reasons: [] }],
  not_listable: [{ reasons: [] }],
  taken_down: [{ reason: 'phishing', at }],
  storage_full: [{ max: 2_000_000_000 }],
  no_builder: [],
  not_ready: [],
  try_again: [{}],
  assets_off: [],
  asset_too_large: [{ bytes: 5 * mb, max: 4 * mb }],
  bad_asset: [{ why: 'the picture cannot be read.' }],
  too_many_assets: [{ max: 300 }],
  assets_full: [{ used: 62 * mb, max: 64 * mb }],
}
