import { inDigits, inWords, toUsd, zero } from '../core/money.ts'
import type { DetailsOf, GatewayErrorName } from '../errors.ts'
import { modelIdCharsMax } from '../limits.ts'

const usd = (amount: bigint): string => `$${inDigits(toUsd(amount))}`
const wait = ({ retryAfter }: { retryAfter: number }): string => `Try again in ${retryAfter} s.`
const uncharged = 'Nothing was charged.'
const charged = 'The reserved credits were charged, because the upstream bills it.'
const look = 'Look at your history before you send it again.'

/** What the gateway says with each refusal: why, and what to do (document 2, section 7). */
export const messages: { [N in GatewayErrorName]: (...facts: DetailsOf<N>) => string } = {
  no_messages: () => 'Send "messages": an array with at least one message.',
  bad_role: () =>
    'A role is system, user or assistant; tool only as the answer to an earlier tool call.',
  no_usable_messages: () => 'No message has content to answer. Send one with text.',
  conversation_too_long: ({ max }) => `The conversation is over ${max} characters. Trim it.`,
  no_rate: ({ model }) => `${model} has no published rate. Pick a model of GET /v1/models.`,
  no_key: () => 'Send your key as Authorization: Bearer <key>. POST /accounts/create makes one.',
  bad_key: () => 'This key is not valid. Check the Authorization header.',
  not_enough_credits: ({ needed, available, free }) => {
    const aside = free ? ` that pays here, beside ${usd(free)} of free credits` : ''
    return `This can cost ${usd(needed)} and you have ${usd(available)}${aside}. Add credits, or lower max_tokens.`
  },
  no_model: ({ model }) =>
    `There is no model ${model.slice(0, modelIdCharsMax)}. Use an exact id of GET /v1/models.`,
  // An agent that is paused has a cap of 0, and no later day lifts that.
  daily_cap: ({ cap, spent }) =>
    cap === zero
      ? 'This key may spend nothing: its agent is paused, or its cap is 0. Have that changed.'
      : `This key may spend ${usd(cap)} a day and has used ${usd(spent)}. Raise its cap, or wait until 00:00 UTC.`,
  rate_limited: (facts) => `More than ${facts.max} requests a minute. ${wait(facts)}`,
  holds_limit: (facts) => `This key has ${facts.max} requests running. ${wait(facts)}`,
  keys_address_limit: (facts) =>
    `This address made its ${facts.max} new accounts of today. ${wait(facts)}`,
  search_off: () => 'This server has no web search. Drop web_search.',
  model_cannot_search: ({ model }) =>
    `${model} cannot use web_search. Pick another model, or drop web_search.`,
  searches_limit: (facts) => `More than ${facts.max} searching calls a minute. ${wait(facts)}`,
  no_picture_input: ({ model }) =>
    `${model} takes no pictures. Pick a model whose inputs have image.`,
  no_file_input: ({ model }) =>
    `${model} takes no inline files. Upload it with POST /v1/files and send its file_id.`,
  bad_part: () => 'A content part is text, image_url, file, input_audio or video_url.',
  no_file: ({ id }) => `There is no file ${id} on this account. Upload it again.`,
  too_many_pdfs: ({ max }) => `A request takes at most ${max} PDF files. Send fewer.`,
  window_exceeded: ({ window }) =>
    `This exceeds the model's window of ${window} tokens. Pick a bigger window, or send less.`,
  bad_media: ({ why }) => why,
  upload_type: () =>
    'Send a PDF, a text or Markdown, a PNG, JPEG, WebP or GIF, an MP3, Ogg or WAV, an MP4 or WebM.',
  upload_too_large: ({ max }) => `A file has at most ${max} bytes. Send a smaller one.`,
  upload_unreadable: ({ why }) => `The file cannot be read: ${why}.`,
  bad_request: ({ problem }) => problem,
  too_large: ({ max }) => `The body is over ${max} bytes. Send less.`,
  not_found: ({ what }) => `There is no such ${what}.`,
  invite_only: () => 'New accounts need the operator’s token: Authorization: Bearer <token>.',
  last_key: () => 'This is the last key of the account. Make another before you revoke it.',
  files_full: ({ files, bytes }) =>
    `An account keeps at most ${files} files and ${bytes} bytes of them. Delete some first.`,
  cap_above_own: ({ cap }) =>
    `This key has a cap of ${inWords(cap)} credits a day itself. Use a key with a higher one, or none.`,
  ref_conflict: () => 'This Idempotency-Key was used for another request. Send a new one.',
  busy: () => 'The first request with this Idempotency-Key is still running.',
  model_unavailable: () =>
    `Access to this model is temporarily unavailable. ${uncharged} Retry shortly.`,
  try_again: () => `This could not be done just now. ${uncharged} Retry shortly.`,
  payments_off: () => `Top-ups are not open here; the operator can add credits. ${uncharged}`,
  gateway_unavailable: () => `No upstream could be reached. ${uncharged} Retry with backoff.`,

  upstream_busy: (facts) => `The upstream is busy. ${uncharged} ${wait(facts)}`,
  content_policy: () => `The provider declined this under its content rules. ${uncharged}`,
  upstream_failed: () => `The provider failed. ${uncharged} Retry with backoff.`,
  upstream_refused: ({ said }) =>
    `The provider refused this request. ${uncharged} Change it first.${said ? ` It said: ${said}` : ''}`,
  no_content: () => `The model returned no content. ${uncharged} Retry with backoff.`,
  unreadable: () => `The upstream's answer could not be read. ${charged} ${look}`,
  deadline: () => `The model exceeded the deadline. ${charged} ${look}`,
}
