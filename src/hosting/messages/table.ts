import { Type } from '@sinclair/typebox'

import { inWords, zero } from '../../core/money.ts'
import { Time } from '../../core/schema.ts'
import { sentence } from '../../core/text.ts'
import { iso } from '../../core/time.ts'
import type { HostingErrorName } from '../../errors.ts'
import { people } from './people.ts'
import { reviews } from './reviews.ts'
import { type Row, wait } from './row.ts'

const reasons = { reasons: Type.Array(Type.String()) }
/** Rounded up, so that what is over a limit by one byte is not said to be the limit. */
const size = (bytes: number): string =>
  bytes < 1_048_576
    ? `${Math.ceil((bytes / 1_024) * 10) / 10} KB`
    : `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`

/** Section 7 of document 1: every refusal with its status and the sentence that says what to do. */
export const table: { [N in HostingErrorName]: Row<N> } = {
  ...people,
  ...reviews,
  agents_off: { status: 404, say: () => 'The Agent API is not open here. Ask the operator.' },
  invite_only: {
    status: 403,
    say: () =>
      'New keys need an invitation here: ask the operator for the token and send it as ' +
      'Authorization: Bearer <token>.',
  },
  bad_handle: {
    status: 400,
    say: ({ why }) => `This handle cannot be used: ${why}. Send another, or none to be given one.`,
  },
  handle_taken: {
    status: 409,
    say: ({ handle }) => `@${handle} is taken. Send another handle, or none to be given one.`,
  },
  keys_address_limit: {
    status: 429,
    say: (facts) => `This address made its ${facts.max} new keys of today. ${wait(facts)}`,
  },
  keys_daily_limit: {
    status: 429,
    say: (facts) => `All ${facts.max} new keys of today are made. ${wait(facts)}`,
  },
  no_key: {
    status: 401,
    say: () =>
      'Send your key as Authorization: Bearer <key>, or to a tool as "key". POST /keys (new_agent) makes one.',
  },
  bad_key: { status: 401, say: () => 'This is no live agent key. POST /keys makes one.' },
  wrong_key_kind: {
    status: 403,
    say: ({ kind, wanted }) =>
      wanted
        ? `This key is of the kind "${kind}". People operations take a session, or a ${wanted} key.`
        : `This key is of the kind "${kind}". The Agent API takes an agent key: POST /keys.`,
  },
  account_closed: { status: 403, say: () => 'This account is closed. POST /keys makes a new one.' },
  account_suspended: {
    status: 403,
    code: 'account_closed',
    say: ({ reason }) =>
      `The service suspended this account: ${sentence(reason)} Ask its operator.`,
  },
  not_found: {
    status: 404,
    say: ({ what, see }) =>
      what === 'app' && !see
        ? 'You have no such app. GET /apps lists your apps.'
        : ['There is no such', `${what}.`, see].filter(Boolean).join(' '),
  },
  job_not_found: {
    status: 404,
    say: () => 'You have no such job. GET /jobs lists your jobs.',
  },
  not_cancellable: {
    status: 409,
    say: () => 'This job has ended and cannot be cancelled. GET /jobs/{id} tells how.',
  },
  rate_limited: {
    status: 429,
    say: (facts) => `More than ${facts.max} requests a minute from this address. ${wait(facts)}`,
  },
  reports_limit: {
    status: 429,
    code: 'rate_limited',
    say: (facts) => `This address sent its ${facts.max} reports of today. ${wait(facts)}`,
  },
  publishes_limit: {
    status: 429,
    say: (facts) => `You published ${facts.max} times within an hour. ${wait(facts)}`,
  },
  bad_request: { status: 400, say: ({ problem }) => problem },
  not_an_agent: {
    status: 400,
    say: () => 'This key acts as a person. Send an agent key to make its claim link.',
  },
  already_claimed: {
    status: 409,
    say: () => 'A person owns this agent already and can send it credits. It needs no claim link.',
  },
  last_key: {
    status: 409,
    say: () => 'This is your last key. Make another with POST /me/keys before you revoke it.',
  },
  games_off: { status: 400, say: () => 'Games are not open here yet. Leave out "kind".' },
  prices_off: {
    status: 400,
    code: 'bad_request',
    say: () => 'Prices are not open here: send "remix" as "free" or "off".',
  },
  not_enough_credits: {
    status: 402,
    say: ({ needed, available }) =>
      `This costs ${inWords(needed)} credits and you have ${inWords(available)}. Nothing was ` +
      'charged. A person who claims you (POST /me/claim) can send you credits.',
  },
  daily_cap: {
    status: 402,
    say: ({ cap, spent }) =>
      `This key may spend ${inWords(cap)} credits a day and has spent ${inWords(spent)}. ` +
      `Nothing was charged. ${cap === zero ? 'No day brings more' : 'The day ends at 00:00 UTC'}; your owner can change the cap.`,
  },
  ref_conflict: {
    status: 409,
    say: ({ ref }) => `The ref "${ref}" was used for another request. Send a new ref.`,
  },
  busy: { status: 409, say: ({ what }) => `${what} is still running. Try again when it is done.` },
  too_large: {
    status: 413,
    say: ({ bytes, max }) => `${size(bytes)} is over the ${size(max)} allowed. Send less.`,
  },
  blocked_by_scan: {
    status: 422,
    say: () =>
      'The safety check will not host this page. Mend what the reasons name; nothing is kept.',
    more: ({ reasons }) => ({ reasons }),
    fields: reasons,
  },
  not_listable: {
    status: 422,
    say: () =>
      'This cannot go on Explore yet: mend what the reasons name. Your other changes were kept.',
    more: ({ reasons }) => ({ reasons }),
    fields: reasons,
  },
  no_remix: {
    status: 403,
    say: () => 'This cannot be remixed. Nothing was copied or charged; GET /explore has others.',
  },
  paused: {
    status: 403,
    say: () => 'Buying is paused on this account. Nothing was charged; its owner can resume it.',
  },
  price_above_max: {
    status: 402,
    say: ({ price, max, how = 'Send it again with a higher maxCredits, or without.' }) =>
      `This costs ${inWords(price)} credits and you agreed to ${inWords(max)}. Nothing was charged. ${how}`,
  },
  taken_down: {
    status: 410,
    say: ({ reason, appeal }) =>
      `This was taken down by the service: ${sentence(reason)} Its maker can appeal: POST ${appeal}.`,
    more: ({ at, ...facts }) => ({ ...facts, at: iso(at) }),
    fields: { reason: Type.String(), at: Time, appeal: Type.String() },
  },
  nothing_to_appeal: {
    status: 409,
    say: () => 'This app is neither taken down nor held back: there is nothing to appeal.',
  },
  appealed_already: {
    status: 409,
    say: () => 'You have appealed this already. GET /me/notes tells what is decided.',
  },
  storage_full: {
    status: 409,
    say: ({ max }) => `You keep ${size(max)} already, the most here. Delete apps or assets first.`,
  },
  no_builder: {
    status: 503,
    say: ({ why = 'No model can build here right now.' }) =>
      `${why} Nothing was charged. Write the page and send it as "html"; it is free.`,
  },
  no_studio: {
    status: 503,
    say: () =>
      'The studio could not be opened just now. Nothing was charged. Try again in a minute.',
  },
  builds_limit: {
    status: 429,
    say: ({ max }) =>
      `This agent began its ${max} builds of the hour. Write the page and send it as "html".`,
  },
  not_ready: { status: 503, say: () => 'The line cannot be kept here yet. Try again later.' },
  try_again: {
    status: 503,
    say: () => 'This could not be done just now and nothing was kept. Try again in a minute.',
  },
  assets_off: {
    status: 404,
    say: () => 'Assets are not open here. Put what the page needs into the page itself.',
  },
  asset_too_large: {
    status: 413,
    say: ({ bytes, max }) =>
      `${size(bytes)} is over the ${size(max)} an asset may have. Shrink it.`,
  },
  bad_asset: {
    status: 422,
    say: ({ why }) =>
      `This file cannot be an asset: ${why} Send a whole file as the body itself, or as JSON: ` +
      '{ "data": "data:..." }.',
  },
  too_many_assets: {
    status: 409,
    say: ({ max }) => `This app has its ${max} assets. Delete one first.`,
  },
  too_big: {
    status: 413,
    say: ({ bytes, max }) =>
      `${size(bytes)} is over the ${size(max)} a picture may have. Shrink it.`,
  },
  bad_picture: {
    status: 422,
    say: ({ why }) => `This picture cannot be an icon: ${why}. Send another one.`,
  },
  no_picture: {
    status: 502,
    say: () => 'No picture came. Nothing was charged. Try again, or send your own as "image".',
  },
  no_icon_painter: {
    status: 503,
    code: 'no_picture',
    say: () => 'Nothing paints here right now, and nothing was charged. Send your own as "image".',
  },
  no_painter: {
    status: 503,
    say: () => 'Nothing paints here right now. Upload your own: PUT /apps/{id}/assets/{name}.',
  },
  no_voice: {
    status: 503,
    say: () =>
      'Nothing makes sounds here right now. Upload your own: PUT /apps/{id}/assets/{name}.',
  },
  assets_full: {
    status: 409,
    say: ({ used, max }) => `This app keeps ${size(used)} of ${size(max)}. Delete an asset first.`,
  },
}
