import { invalidCursor } from '../kernel/cursor.ts'
import { isWriteUnavailable } from '../kernel/db/error.ts'
import {
  ApiError,
  type DetailsOf,
  type ErrorName,
  type HostingErrorName,
} from '../kernel/errors.ts'
import { formatCredits } from '../kernel/money.ts'
import { endWithStop } from '../kernel/text.ts'
import { apiErrorResponse, errorEnvelope, isHostingError } from '../people/error-response.ts'

/**
 * Replaces field names of the API by form labels ("title" becomes “Title”), and JSON types by what
 * a person can do about them.
 */
const withFieldLabels = (problem: string): string =>
  problem
    .replace(
      /"([a-z])(\w*)"/g,
      (_, first: string, rest: string) => `“${first.toUpperCase()}${rest}”`,
    )
    .replace(/” must be a string \((\d+ to \d+ characters)\)/, '” needs $1')
    .replace(/” must be an integer \((\d+ to \d+)\)/, '” must be a number from $1')

/** Messages for people, by error name. */
export type Messages<Name extends ErrorName> = { [N in Name]?: (...facts: DetailsOf<N>) => string }

/** Returns the message for people; undefined where the API's message serves both. */
export const findMessage = <N extends ErrorName>(
  messages: Messages<N>,
  { errorName, details }: ApiError<N>,
): string | undefined => messages[errorName]?.(...details)

const pageMessages: Messages<HostingErrorName> = {
  bad_code: () =>
    'This claim code is not valid. Check for typos, or ask the agent for a new claim link.',
  code_expired: () => 'This claim code has expired. Ask the agent for a new claim link.',
  cross_site: () => 'This form was not sent from a current page of this site. Reload the page.',
  not_found: ({ what, see = '' }) =>
    `This ${what} was not found. ${/\b(?:GET|POST) /.test(see) ? '' : see}`.trim(),
  bad_request: ({ problem }) =>
    problem === invalidCursor
      ? 'This part of the list no longer exists. Go back to the first page.'
      : withFieldLabels(problem),
  ref_conflict: () =>
    'This form was already submitted with different values. Reload the page and try again.',
  wallet_short: ({ needed, available }) =>
    `This costs ${formatCredits(needed)} credits and your wallet has ${formatCredits(available)}. ` +
    'Nothing was transferred. Add credits in your wallet.',
  not_enough_credits: ({ needed, available }) =>
    `This costs ${formatCredits(needed)} credits and the agent has ${formatCredits(available)}. ` +
    'Nothing was charged. Send the agent credits from your wallet.',
  daily_cap: ({ cap, spent }) =>
    `The agent has spent ${formatCredits(spent)} of its daily cap of ${formatCredits(cap)} ` +
    'credits. Nothing was charged. Raise the cap on the page of the agent.',
  price_above_max: ({ price }) =>
    `The price changed to ${formatCredits(price)} credits. Nothing was charged. Confirm the new price.`,
  paused: () =>
    'Spending of this agent is paused. Nothing was charged. Resume it on the page of the agent.',
  no_remix: () => 'The maker turned off remixes. Nothing was copied or charged.',
  not_used: () => 'Open this app before you review it.',
  own_item: () => 'You cannot review your own app.',
  same_owner: () => 'You cannot review an app of your own agents.',
  comments_off: () => 'The maker turned off comments on this app.',
  keys_address_limit: ({ max }) =>
    `Your address has reached the daily limit of ${max} new agents. Try again tomorrow.`,
  keys_daily_limit: ({ max }) =>
    `This server has reached its daily limit of ${max} new agents. Try again tomorrow.`,
  prices_off: () => 'Paid remixes are turned off on this server. Make the remix free.',
  blocked_by_scan: ({ reasons }) => `The safety check blocked it. ${reasons.join(' ')}`,
  bad_skill: ({ reasons }) => `This breaks the rules of Agent Skills. ${reasons.join(' ')}`,
  not_listable: ({ reasons }) =>
    `This cannot be listed on Explore yet. ${reasons.join(' ')} Your other changes were saved.`,
  taken_down: ({ reason }) => `This was taken down: ${endWithStop(reason)} Its maker can appeal.`,
  appealed_already: () =>
    'You already appealed this decision. The agent receives a note with the result.',
  bad_asset: ({ why, path = 'This file' }) => `${path} cannot be used: ${why}`,
}

/**
 * Returns the status, message and headers of an expected error, or of a database or disk that
 * cannot take a write; undefined for an internal error.
 */
export function describeError(error: unknown) {
  const expected = isWriteUnavailable(error) ? new ApiError('try_again', {}) : error
  if (!isHostingError(expected)) return undefined
  const { status, body } = errorEnvelope(expected)
  const wait = apiErrorResponse(expected).headers.get('retry-after')
  const headers: Record<string, string> = wait === null ? {} : { 'retry-after': wait }
  return { status, message: findMessage(pageMessages, expected) ?? body.error, headers }
}
