/** What both APIs can say. */
interface SharedDetails {
  no_key: None
  bad_key: None
  invite_only: None
  not_found: { what: string; see?: string }
  rate_limited: { max: number; retryAfter: number }
  keys_address_limit: { max: number; retryAfter: number }
  bad_request: { problem: string; param?: string }
  last_key: None
  not_enough_credits: { needed: bigint; available: bigint; free?: bigint }
  daily_cap: { cap: bigint; spent: bigint; retryAfter?: number }
  ref_conflict: { ref: string }
  busy: { what: string }
  too_large: { bytes: number; max: number }
  try_again: { why?: string; wanted?: number; free?: number }
}

/** What only the Agent API can say (document 1, section 7). */
interface HostingDetails {
  wrong_key_kind: { kind: string; wanted?: string }
  account_closed: None
  agents_off: None
  keys_daily_limit: { max: number; retryAfter: number }
  publishes_limit: { max: number; retryAfter: number }
  job_not_found: None
  not_cancellable: None
  bad_handle: { why: string }
  handle_taken: { handle: string }
  not_an_agent: None
  already_claimed: None
  bad_code: None
  code_used: None
  code_expired: None
  claim_locked: { max: number; retryAfter: number }
  not_signed_in: { signIn: string }
  bad_personal_key: { account: string }
  cross_site: None
  /** `own`: the password of who is signed in already, so that no name was asked. */
  bad_sign_in: { own?: boolean }
  sign_in_locked: { retryAfter: number }
  name_taken: None
  sign_in_stale: None
  sign_in_again: None
  bad_passkey: { why: string }
  no_provider: { why: string }
  provider_silent: None
  identity_taken: None
  last_way_in: None
  wallet_short: { needed: bigint; available: bigint }
  games_off: None
  prices_off: None
  blocked_by_scan: { reasons: string[] }
  not_listable: { reasons: string[] }
  no_remix: None
  paused: None
  not_used: { id: string }
  own_item: None
  same_owner: None
  text_blocked: None
  already_answered: None
  comments_off: None
  comments_limit: { max: number; retryAfter: number }
  price_above_max: { price: bigint; max: bigint; how?: string }
  /** `appeal` is the path of the operation that asks for it to be looked at again. */
  taken_down: { reason: string; at: number; appeal: string }
  nothing_to_appeal: None
  appealed_already: None
  account_suspended: { reason: string }
  reports_limit: { max: number; retryAfter: number }
  storage_full: { max: number }
  no_builder: { why?: string }
  no_studio: None
  builds_limit: { max: number; retryAfter: number }
  not_ready: None
  assets_off: None
  asset_too_large: { bytes: number; max: number }
  bad_asset: { why: string }
  too_many_assets: { max: number }
  no_painter: None
  too_big: { bytes: number; max: number }
  bad_picture: { why: string }
  no_picture: None
  no_icon_painter: None
  no_voice: None
  assets_full: { used: number; max: number }
}

/** What only the gateway can say (document 2, section 7, in its order). */
interface GatewayDetails {
  no_messages: None
  bad_role: None
  no_usable_messages: None
  conversation_too_long: { max: number }
  no_rate: { model: string }
  no_model: { model: string }
  search_off: None
  model_cannot_search: { model: string }
  searches_limit: { max: number; retryAfter: number }
  no_picture_input: { model: string }
  no_file_input: { model: string }
  bad_part: None
  no_file: { id: string }
  too_many_pdfs: { max: number }
  window_exceeded: { window: number }
  bad_media: { code: MediaCode; why: string }
  upload_type: None
  upload_too_large: { max: number }
  upload_unreadable: { why: string }
  files_full: { files: number; bytes: number }
  model_unavailable: None
  gateway_unavailable: None
  upstream_busy: { retryAfter: number }
  content_policy: None
  upstream_failed: { retryAfter?: number | undefined }
  /** `said`: the upstream's own words. */
  upstream_refused: { said?: string; code?: 'context_length_exceeded' }
  no_content: None
  unreadable: None
  deadline: None
  cap_above_own: { cap: bigint }
  holds_limit: { max: number; retryAfter: number }
  payments_off: None
}

/** Workspace codes of files in a chat request (gateway-completed). */
export type MediaCode = 'W203' | 'W605' | 'W606' | 'W607' | 'W608' | 'W609' | 'W611'

/**
 * Every expected "no" of the house, with the facts its sentence needs. The domain throws a name
 * and facts; each API's envelope.ts gives it a status and a sentence (section 7 of its document).
 */
export interface ErrorDetails extends SharedDetails, HostingDetails, GatewayDetails {}
export type HostingErrorName = keyof (SharedDetails & HostingDetails)
export type GatewayErrorName = keyof (SharedDetails & GatewayDetails)

type None = Record<never, never>
export type ErrorName = keyof ErrorDetails

/** What a refusal is thrown with: its facts, or nothing where it needs none. */
export type DetailsOf<N extends ErrorName> = keyof ErrorDetails[N] extends never
  ? []
  : [facts: ErrorDetails[N]]

/**
 * An expected no: `new Refusal('handle_taken', { handle })`. It has no property `code`, because
 * the web framework would take that for its own.
 */
export class ApiError<N extends ErrorName = ErrorName> extends Error {
  override readonly name = 'Refusal'
  readonly details: DetailsOf<N>

  constructor(
    readonly errorName: N,
    ...facts: DetailsOf<N>
  ) {
    super(errorName)
    this.details = facts
  }
}

/** Whether an error is the refusal of this name. */
export const isApiError = <N extends ErrorName>(error: unknown, name: N): error is ApiError<N> =>
  error instanceof ApiError && error.errorName === name
