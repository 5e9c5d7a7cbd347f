import type { DetailsOf, FieldNames, GatewayErrorName } from '../kernel/errors.ts'
import { modelIdCharsMax } from '../kernel/limits.ts'
import { formatCredits, formatDecimal, toUsd, zero } from '../kernel/money.ts'
import { lookUp } from '../kernel/schema.ts'
import { endWithStop } from '../kernel/text.ts'
import { iso } from '../kernel/time.ts'
import { paymentsOffMessage } from '../money/payments/networks.ts'

const usd = (amount: bigint): string => `$${formatDecimal(toUsd(amount))}`
const wait = ({ retryAfter }: { retryAfter: number }): string => `Try again in ${retryAfter} s.`
const uncharged = 'Nothing was charged.'
const charged = 'The reserved credits were charged, because the upstream bills the request.'
const checkHistory = 'Check your history before you retry.'

/** The message of each error: what happened, and what to do next (document 2, section 7). */
export const messages: { [N in GatewayErrorName]: (...details: DetailsOf<N>) => string } = {
  no_messages: () => 'Send "messages": an array with at least one message.',
  bad_role: ({ isDeveloper }) =>
    isDeveloper
      ? 'This server does not accept the role developer. Send system, or ask its operator to set GATEWAY_DEVELOPER_ROLE=system, which reads it as system.'
      : 'A role must be system, user, assistant or tool. A tool message must follow a tool call.',
  no_usable_messages: () => 'No message has content. Send at least one message with text.',
  conversation_too_long: ({ max }) =>
    `The conversation has more than ${max} characters. Shorten it.`,
  no_price: ({ model }) => `${model} has no published price. Use a model from GET /v1/models.`,
  no_key: () =>
    'Send your API key as Authorization: Bearer <key>. POST /accounts/create creates one.',
  bad_key: () => 'This API key is invalid or revoked. Check the Authorization header.',
  not_enough_credits: ({ needed, available, free }) => {
    const aside = free ? ` Your ${usd(free)} of free credits cannot pay for it.` : ''
    return `This request can cost ${usd(needed)} and you have ${usd(available)}.${aside} Add credits, or lower max_tokens.`
  },
  no_model: ({ model }) =>
    `The model ${model.slice(0, modelIdCharsMax)} does not exist. Use an exact id from GET /v1/models.`,
  // A paused agent has a cap of 0, so waiting for the next day does not help.
  daily_cap: ({ cap, spent }) =>
    cap === zero
      ? 'This key cannot spend: its agent is paused, or its daily cap is 0. Ask its owner to change that.'
      : `This key has a daily cap of ${usd(cap)} and has used ${usd(spent)}. Raise the cap, or wait until 00:00 UTC.`,
  key_expired: ({ at }) =>
    `This API key expired at ${iso(at)}. Ask the owner of the account for another.`,
  model_not_allowed: ({ model, allowed }) =>
    `This key may not use ${model.slice(0, modelIdCharsMax)}. Use one of ${allowed.join(', ')}.`,
  key_rate: (details) =>
    `This key has reached its limit of ${details.max} ${details.unit} per minute. ${wait(details)}`,
  budget_exceeded: ({ owner, period, max, retryAfter }) =>
    `The ${owner} may spend ${usd(max)} a ${period} (UTC), and this request can exceed that. Raise the limit, or wait ${retryAfter} seconds until the next ${period}.`,
  key_above_own: ({ field }) =>
    `${field} must not be wider than that of the calling key. Use a key without this limit.`,
  rate_limited: (details) =>
    details.max === 0
      ? 'The operator of this server blocked your network, key or account. Contact the operator.'
      : `The limit of ${details.max} requests per minute is reached. ${wait(details)}`,
  holds_limit: (details) =>
    `This key has reached its limit of ${details.max} running requests. ${wait(details)}`,
  keys_address_limit: (details) =>
    `The daily limit of ${details.max} new accounts per address has been reached. ${wait(details)}`,
  search_off: () => 'This server has no web search. Remove web_search.',
  model_cannot_search: ({ model }) =>
    `${model} does not support web_search. Use another model, or remove web_search.`,
  searches_limit: (details) =>
    `The limit of ${details.max} searching requests per minute is reached. ${wait(details)}`,
  no_image_input: ({ model }) =>
    `${model} does not accept images. Use a model with the input "image".`,
  no_file_input: ({ model }) =>
    `${model} does not accept inline files. Upload the file with POST /v1/files and send its file_id.`,
  bad_part: () => 'A content part must be text, image_url, file, input_audio or video_url.',
  no_file: ({ id }) => `This account has no file ${id}. Upload the file again.`,
  too_many_pdfs: ({ max }) => `A request may have at most ${max} PDF files. Send fewer.`,
  window_exceeded: ({ window }) =>
    `The request exceeds the model's context window of ${window} tokens. Use a larger model, or send less.`,
  bad_media: ({ why }) => why,
  upload_type: () =>
    'Unsupported file type. Send PDF, text, Markdown, PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, M4A, FLAC, AAC, MP4 or WebM.',
  upload_too_large: ({ max }) => `The file has more than ${max} bytes. Send a smaller one.`,
  upload_unreadable: ({ why }) =>
    `The file cannot be read: ${why}. Fix the file and upload it again.`,
  bad_request: ({ problem }) => problem,
  too_large: ({ max }) => `The body has more than ${max} bytes. Send less.`,
  not_found: ({ what, see = 'Check the id.' }) => `This ${what} does not exist. ${see}`,
  invite_only: () =>
    'New accounts need the operator’s invite token. Send it as Authorization: Bearer <token>.',
  last_key: () => 'This is the only key of the account. Create another one before you revoke it.',
  files_full: ({ files, bytes, isFunded }) =>
    isFunded
      ? `An account may store at most ${files} files, with at most ${bytes} bytes in total. Delete some first.`
      : `An account without funds may store at most ${files} files with ${bytes} bytes. Delete some first, or add credits.`,
  uploads_limit: ({ bytes, retryAfter }) =>
    `Accounts without funds may upload ${bytes} bytes a day from your network. Retry in ${retryAfter} seconds, or add credits.`,
  cap_above_own: ({ cap }) =>
    `This key has a cap of ${formatCredits(cap)} credits a day, and the new cap is higher. Use a key with a higher cap.`,
  ref_conflict: () => 'This Idempotency-Key belongs to another request. Send a new key.',
  busy: () =>
    'The first request with this Idempotency-Key is still running. Send the same request again later.',
  model_unavailable: () =>
    `Access to this model is temporarily unavailable. ${uncharged} Retry shortly.`,
  try_again: () => `This server cannot process the request now. ${uncharged} Retry shortly.`,
  bad_payment: ({ why }) =>
    `The payment cannot be read: ${why}. ${uncharged} Send X-PAYMENT or PAYMENT-SIGNATURE as x402 defines it.`,
  payment_rejected: ({ why }) =>
    `The payment was rejected: ${endWithStop(why)} ${uncharged} Sign a new one.`,
  payment_used: () => 'Another account sent this payment first. Sign a new one.',
  payment_pending: () =>
    'The payment is on its way and not confirmed yet. Send the same request with the same payment again. Do not pay again.',
  payments_off: paymentsOffMessage,
  topups_limit: ({ max }) =>
    `This account already has ${max} unpaid top-ups. Pay one, or wait until some end.`,
  no_rate: ({ coin }) =>
    `This server has no safe rate of ${coin} now. Nothing was created. Retry shortly, or pay with USDT.`,
  needs_websocket: () =>
    'This operation is a WebSocket. Connect to it with wss:// and the same path.',
  session_idle: ({ seconds }) =>
    `The session ended after ${seconds} seconds without an event from the client. Open another one.`,
  session_expired: ({ minutes }) =>
    `A session has at most ${minutes} minutes. Open another one to continue.`,
  server_stops: () => 'The server is stopping. Open another session in a minute.',
  session_broken: () =>
    'The provider ended the session. A running response was charged for what it carried. Open another one.',
  gateway_unavailable: () => `No upstream could be reached. ${uncharged} Retry with backoff.`,

  upstream_busy: (details) => `The upstream is busy. ${uncharged} ${wait(details)}`,
  guardrail_refused: ({ reason }) =>
    `The rules of this server do not allow this request${reason ? `: ${endWithStop(reason)}` : '.'} ${uncharged} Change the request, or ask the operator.`,
  guardrail_failed: () =>
    `The guardrail of this server did not respond. ${uncharged} Retry shortly.`,
  content_policy: () =>
    `The provider blocked this request under its content rules. ${uncharged} Change the request before you retry.`,
  upstream_failed: () => `The provider failed. ${uncharged} Retry with backoff.`,
  upstream_rejected: ({ reason }) =>
    `The provider rejected this request. ${uncharged} Change it before you retry.${reason ? ` Reason: ${reason}` : ''}`,
  no_content: () => `The model returned no content. ${uncharged} Retry with backoff.`,
  unreadable: () => `The upstream's response is unreadable. ${charged} ${checkHistory}`,
  deadline: () => `The model exceeded the deadline. ${charged} ${checkHistory}`,
}

/** Returns the client's name of a field. */
export function paramOf(field: string | null, names: FieldNames): string | null {
  const name = lookUp(names, field)
  return typeof name === 'object' ? name.param : (name ?? field)
}

/** Replaces names of fields. Names without an underscore are also words, except the field's own. */
export function withNames(message: string, field: string | null, names: FieldNames): string {
  const shown = Object.entries(names).filter(([name]) => name === field || name.includes('_'))
  return shown.reduce(
    (text, [name, to]) =>
      text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), typeof to === 'object' ? to.text : to),
    message,
  )
}
