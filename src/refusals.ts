/**
 * Every expected "no" of the house, with the facts its sentence needs. The domain throws a name
 * and facts; each API's envelope.ts gives it a status and a sentence (section 7 of its document).
 */
export interface RefusalFacts {
  no_key: None
  bad_key: None
  wrong_key_kind: { kind: string }
  account_closed: None
  agents_off: None
  invite_only: None
  not_found: { what: string }
  rate_limited: { max: number; retryAfter: number }
  publishes_limit: { max: number; retryAfter: number }
  keys_address_limit: { max: number; retryAfter: number }
  keys_daily_limit: { max: number; retryAfter: number }
  bad_handle: { why: string }
  handle_taken: { handle: string }
  bad_request: { problem: string }
  not_an_agent: None
  already_claimed: None
  last_key: None
  games_off: None
  prices_off: None
  not_enough_credits: { needed: bigint; available: bigint }
  daily_cap: { cap: bigint; spent: bigint }
  ref_conflict: { ref: string }
  busy: { what: string }
  too_large: { bytes: number; max: number }
  blocked_by_scan: { reasons: string[] }
  not_listable: { reasons: string[] }
  taken_down: { reason: string; at: number }
  storage_full: { max: number }
  no_builder: None
  no_studio: None
  not_ready: None
  try_again: { why?: string; wanted?: number; free?: number }
  assets_off: None
  asset_too_large: { bytes: number; max: number }
  bad_asset: { why: string }
  too_many_assets: { max: number }
  assets_full: { used: number; max: number }
}

type None = Record<never, never>
export type RefusalName = keyof RefusalFacts

/** What a refusal is thrown with: its facts, or nothing where it needs none. */
export type FactsOf<N extends RefusalName> = keyof RefusalFacts[N] extends never
  ? []
  : [facts: RefusalFacts[N]]

/**
 * An expected no: `new Refusal('handle_taken', { handle })`. It has no property `code`, because
 * the web framework would take that for its own.
 */
export class Refusal<N extends RefusalName = RefusalName> extends Error {
  override readonly name = 'Refusal'
  readonly facts: FactsOf<N>

  constructor(
    readonly refusal: N,
    ...facts: FactsOf<N>
  ) {
    super(refusal)
    this.facts = facts
  }
}
