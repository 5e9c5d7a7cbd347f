import { invalidCursor } from '../../kernel/cursor.ts'
import type { HostingErrorName } from '../../kernel/errors.ts'
import { formatCredits, formatDecimal, toUsd, zero } from '../../kernel/money.ts'
import { endWithStop } from '../../kernel/text.ts'
import { t } from '../../kernel/words/message.ts'
import { paymentsOffMessage } from '../../money/payments/networks.ts'
import { offerFields } from '../../money/payments/x402/headers.ts'
import { apps, assets, data, reviews, runs } from './apps.ts'
import { people } from './people.ts'
import { type ErrorRow, type ErrorRows, formatSize, retryHint, withFieldLabels } from './row.ts'

/** Returns where a page says to look for what was not found. It names no request. */
export const seeOnPage = (see: string): string =>
  /\b(?:GET|POST) /.test(see) ? t('Check the address.') : see

/** Errors of calls that cost credits, and of payments by x402. */
const payments = {
  not_enough_credits: {
    status: 402,
    message: ({ needed, available }) =>
      `This costs ${formatCredits(needed)} credits and you have ${formatCredits(available)}. Nothing was charged. A person who claims you (POST /me/claim) can send you credits.`,
    onPage: ({ needed, available }) =>
      t(
        'This costs {needed} credits and the agent has {available}. Nothing was charged. Send the agent credits from your wallet.',
        { needed: formatCredits(needed), available: formatCredits(available) },
      ),
    fields: offerFields,
  },
  payment_required: {
    status: 402,
    message: ({ amount, share }) =>
      share
        ? `Pay one of "accepts" with x402: ${formatDecimal(toUsd(amount))} USDC to the maker. Or pay by yourself and send { tx, network, signature }. Nothing was charged yet.`
        : t('Pay one of "accepts" with x402 to add {amount} credits. Nothing was charged yet.', {
            amount: formatCredits(amount),
          }),
    fields: offerFields,
  },
  bad_payment: {
    status: 400,
    message:
      'The payment cannot be read: {why}. Nothing was charged. Send X-PAYMENT or PAYMENT-SIGNATURE as x402 defines it.',
  },
  payment_rejected: {
    status: 402,
    message: ({ why }) =>
      t('The payment was rejected: {endWithStop} Nothing was charged. Sign a new one.', {
        endWithStop: endWithStop(why),
      }),
    fields: offerFields,
  },
  payment_used: {
    status: 409,
    message: 'Another account sent this payment first. Sign a new one.',
  },
  payment_pending: {
    status: 202,
    message:
      'The payment is on its way and not confirmed yet. Send the same request with the same payment again. Do not pay again.',
  },
  payments_off: { status: 503, message: paymentsOffMessage },
} satisfies ErrorRows

/** Every error of the Agent API with its status and message (document 1, section 7). */
export const errorTable: { [N in HostingErrorName]: ErrorRow<N> } = {
  agents_off: {
    status: 404,
    message: 'The Agent API is disabled on this server. Ask the operator to enable it.',
  },
  invite_only: {
    status: 403,
    message:
      'New keys require an invitation. Ask the operator for the token and send it as Authorization: Bearer <token>.',
  },
  bad_handle: {
    status: 400,
    message:
      'This handle cannot be used: {why}. Send another, or leave it out to get a generated one.',
  },
  handle_taken: {
    status: 409,
    message: '@{handle} is taken. Send another handle, or leave it out to get a generated one.',
  },
  keys_address_limit: {
    status: 429,
    message: (facts) =>
      `Your address has reached the daily limit of ${facts.max} new keys. ${retryHint(facts)}`,
    onPage: 'Your address has reached the daily limit of {max} new agents. Try again tomorrow.',
  },
  keys_daily_limit: {
    status: 429,
    message: (facts) =>
      `The daily limit of ${facts.max} new keys has been reached. ${retryHint(facts)}`,
    onPage: 'This server has reached its daily limit of {max} new agents. Try again tomorrow.',
  },
  no_key: {
    status: 401,
    message:
      'Send your API key as Authorization: Bearer <key>, or to a tool as "key". POST /keys (new_agent) creates one.',
  },
  bad_key: {
    status: 401,
    message: 'This API key is invalid or revoked. POST /keys creates a new one.',
  },
  wrong_key_kind: {
    status: 403,
    message: ({ kind, expected }) =>
      expected
        ? t('This is a key of kind "{kind}". Send a {expected} key, or sign in.', {
            kind,
            expected,
          })
        : `This is a key of kind "${kind}". Send an agent key, which POST /keys creates.`,
  },
  insufficient_scope: {
    status: 403,
    message: ({ scope }) =>
      scope === 'none'
        ? t('A connector may not do this, because the result would outlive it. Use an agent key.')
        : t(
            'Your person did not allow this connector to {scope}. Ask them to connect again with the scope "{scope}".',
            { scope },
          ),
  },
  account_closed: { status: 403, message: 'This account is closed. POST /keys creates a new one.' },
  account_suspended: {
    status: 403,
    code: 'account_closed',
    message: ({ reason }) =>
      t('The operator suspended this account: {endWithStop} Contact the operator.', {
        endWithStop: endWithStop(reason),
      }),
  },
  not_found: {
    status: 404,
    message: ({ what, see = what === 'app' ? 'GET /apps lists your apps.' : 'Check the id.' }) =>
      `The ${what} was not found. ${see}`,
    onPage: ({ what, see = 'GET /' }) =>
      t('This {what} was not found. {part}', {
        what,
        part: seeOnPage(see),
      }),
  },
  job_not_found: { status: 404, message: 'The job was not found. GET /jobs lists your jobs.' },
  not_cancellable: {
    status: 409,
    message: 'This job has ended and cannot be canceled. GET /jobs/{id} returns its result.',
  },
  rate_limited: {
    status: 429,
    message: (facts) =>
      facts.max === 0
        ? t(
            'The operator of this server blocked your network, key or account. Contact the operator.',
          )
        : t('Your address sent more than {max} requests a minute. {retryHint}', {
            max: facts.max,
            retryHint: retryHint(facts),
          }),
  },
  bad_request: {
    status: 400,
    message: ({ problem }) => problem,
    onPage: ({ problem }) =>
      problem === invalidCursor
        ? t('This part of the list no longer exists. Go back to the first page.')
        : withFieldLabels(problem),
  },
  not_an_agent: {
    status: 400,
    message: 'This key belongs to a person. Send an agent key to create its claim link.',
  },
  already_claimed: {
    status: 409,
    message: 'This agent already has an owner and needs no claim link. Ask the owner for credits.',
  },
  last_key: {
    status: 409,
    message: 'This is your only key. Create another with POST /me/keys before you revoke it.',
  },
  daily_cap: {
    status: 402,
    message: ({ cap, spent }) =>
      `This key has spent ${formatCredits(spent)} of the ${formatCredits(cap)} credits it may spend a day. Nothing was charged. ${cap === zero ? '' : 'A new day begins at 00:00 UTC. '}Your owner can raise the cap.`,
    onPage: ({ cap, spent }) =>
      t(
        'The agent has spent {spent} of its daily cap of {cap} credits. Nothing was charged. Raise the cap on the page of the agent.',
        { spent: formatCredits(spent), cap: formatCredits(cap) },
      ),
  },
  price_above_max: {
    status: 402,
    message: ({ price, max, how = 'Send it again with a higher "maxCredits", or without it.' }) =>
      `This costs ${formatCredits(price)} credits and your limit is ${formatCredits(max)}. Nothing was charged. ${how}`,
    onPage: ({ price }) =>
      t('The price changed to {price} credits. Nothing was charged. Confirm the new price.', {
        price: formatCredits(price),
      }),
  },
  paused: {
    status: 403,
    message:
      'Purchases are paused on this account. Nothing was charged. Its owner can resume them.',
    onPage:
      'Spending of this agent is paused. Nothing was charged. Resume it on the page of the agent.',
  },
  ref_conflict: {
    status: 409,
    message: ({ ref }) => `The ref "${ref}" was used for a different request. Send a new ref.`,
    onPage: 'This form was already submitted with different values. Reload the page and try again.',
  },
  busy: {
    status: 409,
    message: ({ what, max }) =>
      max === undefined
        ? t('{what} is still running. Try again when it has finished.', { what })
        : t('You already have {max} running {what}. Try again when one of them has finished.', {
            max,
            what,
          }),
  },
  too_large: {
    status: 413,
    message: ({ bytes, max }) =>
      t('{bytes} is over the limit of {max}. Send less.', {
        bytes: formatSize(bytes),
        max: formatSize(max),
      }),
  },
  not_ready: {
    status: 503,
    message: 'This server cannot save the "about" line now. Try again later.',
  },
  not_granted: {
    status: 403,
    message:
      'The player has not agreed to what this app uses. Open the app by its link and press Allow.',
  },
  try_again: {
    status: 503,
    message:
      'This server could not complete the request, and stored nothing. Try again in a minute.',
  },
  ...apps,
  ...assets,
  ...data,
  ...payments,
  ...people,
  ...reviews,
  ...runs,
}
