import type { Scope } from './scopes.ts'

/** Errors of both APIs, with the details that their messages need. */
interface SharedDetails {
  no_key: None
  bad_key: None
  invite_only: None
  not_found: { what: string; see?: string }
  rate_limited: { max: number; retryAfter: number }
  keys_address_limit: { max: number; retryAfter: number }
  bad_request: { problem: string; param?: string; code?: string }
  last_key: None
  not_enough_credits: { needed: bigint; available: bigint; free?: bigint }
  daily_cap: { cap: bigint; spent: bigint; retryAfter?: number }
  /** The header of a payment cannot be read. */
  bad_payment: { why: string }
  payment_rejected: { why: string }
  /** Another account sent the same payment first. */
  payment_used: None
  /** The payment is on its way. The status is 202, because a 402 makes clients pay again. */
  payment_pending: None
  /** `setting` turns the payments on; with `isSet`, the operator must check it. */
  payments_off: { setting?: string; isSet?: boolean; advice?: string }
  ref_conflict: { ref: string }
  /** `what` still runs; with `max`, so many of it. */
  busy: { what: string; max?: number }
  too_large: { bytes: number; max: number }
  try_again: { why?: string; needed?: number; free?: number }
  needs_websocket: None
}

/** A payment to another payee than this server, such as the share of a run. */
export interface DirectPayment {
  /** The id of the run. */
  run: string
  payTo: string
}

/** Errors of the Agent API (document 1, section 7). A name is the `code` of the response. */
interface HostingDetails {
  wrong_key_kind: { kind: string; expected?: string }
  account_closed: None
  /** A connector lacks a scope; `none`: no connector may do this. */
  insufficient_scope: { scope: Scope | 'none' }
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
  /** The errors by which a device waits for its sign-in (RFC 8628, section 3.5). */
  authorization_pending: None
  access_denied: None
  expired_token: None
  /** Errors of sign-in with OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2; RFC 8707, 2). */
  invalid_grant: None
  unsupported_grant_type: None
  invalid_client: { problem: string }
  invalid_scope: None
  invalid_target: { resource: string }
  invalid_redirect_uri: { problem: string }
  invalid_client_metadata: { problem: string }
  invalid_authorization: { problem: string }
  client_registrations_limit: { max: number; retryAfter: number }
  bad_device_code: None
  device_codes_limit: { max: number; retryAfter: number }
  /** `isSession`: only a web session may do this, and no key. */
  not_signed_in: { signIn: string; isSession?: true }
  bad_personal_key: { account: string }
  cross_site: None
  /**
   * `own`: a signed-in person confirmed with a wrong password, so no name was sent. `isOther`: not
   * by a password.
   */
  bad_sign_in: { own?: boolean; isOther?: boolean }
  /** The password of an app. */
  bad_password: None
  sign_in_locked: { retryAfter: number }
  name_taken: None
  sign_in_stale: None
  sign_in_again: None
  bad_passkey: { why: string }
  /** The OpenID Connect provider rejected a sign-in, or its response is not valid. */
  no_provider: { why: string }
  provider_silent: None
  identity_taken: None
  last_way_in: None
  wallet_short: { needed: bigint; available: bigint }
  games_off: None
  prices_off: None
  bad_skill: { reasons: string[] }
  skill_name_taken: { name: string }
  /** The operation needs this payment, `share` to the maker of a framework. */
  payment_required: { amount: bigint; share?: DirectPayment }
  blocked_by_scan: { reasons: string[] }
  /**
   * A patch does not fit `version`, the newest: a change has no place in its file, or the patch was
   * made for `base`.
   */
  patch_conflict: {
    version: number
    base?: number
    path?: string
    number?: number
    why?: string
    line?: number
    nearest?: string
  }
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
  /** `at` is milliseconds since 1970; `appeal` is the path of the operation that appeals. */
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
  /** The player has not agreed to what an app uses. */
  not_granted: None
  assets_off: None
  /** `path` names a file of a folder. */
  asset_too_large: { bytes: number; max: number; path?: string }
  bad_asset: { why: string; path?: string }
  /** `files` that the version would have. */
  too_many_assets: { files: number; max: number }
  no_painter: None
  too_big: { bytes: number; max: number }
  bad_picture: { why: string }
  no_picture: None
  no_icon_model: None
  no_voice: None
  /** `used`: bytes that the files of the version would have. */
  assets_full: { used: number; max: number }
  view_too_large: { link: string; max: number }
  /** The version of an app that players see does not say that it uses a part of `service`. */
  not_declared: { use: string }
  /** The player has not agreed to share data with the app. */
  not_joined: { app: string }
  /** `what`: the limit that is reached. */
  data_full: { what: string }
  document_changed: { path: string }
  data_limit: { max: number; retryAfter: number }
  guests_limit: { max: number; retryAfter: number }
  room_limit: { max: number; retryAfter: number }
  /** Another player protects the document. */
  not_own: None
  run_not_found: None
  share_off: None
  tx_not_found: { tx: string }
  tx_failed: { tx: string }
  tx_wrong_asset: { expected: string }
  tx_wrong_payee: { expected: string }
  tx_too_small: { expected: string }
  tx_too_old: None
  tx_used: None
  tx_unconfirmed: { retryAfter: number }
  tx_not_yours: { message: string; nonce: string }
  chain_unavailable: None
  run_closed: { state: string }
  bad_evidence: { problem: string }
  runs_limit: { max: number; retryAfter: number }
}

/** Errors of the gateway (document 2, section 7, in its order). */
interface GatewayDetails {
  key_expired: { at: number }
  model_not_allowed: { model: string; allowed: string[] }
  /** `unit`: requests or tokens. */
  key_rate: { unit: string; max: number; retryAfter: number }
  /** `owner`: "key", or the name of a project. `period`: day, week or month. */
  budget_exceeded: { owner: string; period: string; max: bigint; retryAfter: number }
  key_above_own: { field: string }
  no_messages: None
  bad_role: { isDeveloper?: boolean }
  no_usable_messages: None
  conversation_too_long: { max: number }
  no_price: { model: string }
  no_model: { model: string }
  search_off: None
  model_cannot_search: { model: string }
  searches_limit: { max: number; retryAfter: number }
  no_image_input: { model: string }
  no_file_input: { model: string }
  bad_part: None
  no_file: { id: string }
  too_many_pdfs: { max: number }
  window_exceeded: { window: number }
  bad_media: { code: MediaCode; why: string }
  upload_type: None
  upload_too_large: { max: number }
  upload_unreadable: { why: string }
  files_full: { files: number; bytes: number; isFunded: boolean }
  uploads_limit: { bytes: number; retryAfter: number }
  model_unavailable: None
  gateway_unavailable: None
  upstream_busy: { retryAfter: number }
  content_policy: None
  /** `reason`: the words of the operator's guardrail. */
  guardrail_refused: { reason: string | undefined }
  guardrail_failed: None
  upstream_failed: { retryAfter?: number | undefined }
  /** `reason`: the message of the upstream. */
  upstream_rejected: { reason?: string; code?: 'context_length_exceeded' }
  no_content: None
  unreadable: None
  deadline: None
  cap_above_own: { cap: bigint }
  topups_limit: { max: number; retryAfter: number }
  no_rate: { coin: string }
  /** Ends of a realtime session. */
  session_idle: { seconds: number }
  session_expired: { minutes: number }
  server_stops: None
  session_broken: None
  holds_limit: { max: number; retryAfter: number }
}

/** Codes of files in a chat request (docs/spec/gateway-decisions.md, "Responses"). */
export const mediaCodes = ['W203', 'W605', 'W606', 'W607', 'W608', 'W609', 'W611'] as const
export type MediaCode = (typeof mediaCodes)[number]

/**
 * Every expected error by name, with its details. Amounts are billionths of a USD, `retryAfter` is
 * in seconds. The domain throws names; each API has one table with the status and message of each.
 */
export interface ErrorDetails extends SharedDetails, HostingDetails, GatewayDetails {}
export type HostingErrorName = keyof (SharedDetails & HostingDetails)
export type GatewayErrorName = keyof (SharedDetails & GatewayDetails)

type None = Record<never, never>
export type ErrorName = keyof ErrorDetails

/** Names of the errors of rate limits and quotas, which say when to retry. */
export type RateLimitName = {
  [N in ErrorName]: ErrorDetails[N] extends { max: number; retryAfter: number } ? N : never
}[ErrorName]

/** The arguments after the name of an error: its details, or nothing where it has none. */
export type DetailsOf<N extends ErrorName> = keyof ErrorDetails[N] extends never
  ? []
  : [details: ErrorDetails[N]]

/** The client's name of a field: `text` stands for it in a message. Default: the name. */
export type FieldNames = Record<string, string | { param: string; text: string }>

/**
 * An expected error: `new ApiError('handle_taken', { handle })`. It has no property `code`, because
 * Elysia would read that as its own.
 */
export class ApiError<N extends ErrorName = ErrorName> extends Error {
  override readonly name = 'ApiError'
  readonly details: DetailsOf<N>
  /** Names of the client's API, where the domain has others for the same fields. */
  fieldNames: FieldNames = {}

  constructor(
    readonly errorName: N,
    ...details: DetailsOf<N>
  ) {
    super(errorName)
    this.details = details
  }
}

/** Checks whether an error is an ApiError of this name. */
export const isApiError = <N extends ErrorName>(error: unknown, name: N): error is ApiError<N> =>
  error instanceof ApiError && error.errorName === name

/** Throws `bad_request` with a problem, and with the name of the parameter that has it. */
export function rejectRequest(problem: string, param?: string): never {
  throw new ApiError('bad_request', { problem, ...(param !== undefined && { param }) })
}
