import { notOurCursor } from '../core/cursor.ts'
import { inWords } from '../core/money.ts'
import { sentence } from '../core/text.ts'
import { isWriteUnavailable } from '../db/error.ts'
import { ApiError, type DetailsOf, type ErrorName, type HostingErrorName } from '../errors.ts'
import { apiErrorResponse, errorEnvelope, isHostingError } from '../hosting/envelope.ts'

/** The name of a field of the API, as the label of a form has it: "title" is “Title”. */
const withFieldLabels = (problem: string): string =>
  problem.replace(
    /"([a-z])(\w*)"/g,
    (_, first: string, rest: string) => `“${first.toUpperCase()}${rest}”`,
  )

/** The sentences of pages, for refusals of which an API's own speaks of its fields. */
export type Messages<Name extends ErrorName> = { [N in Name]?: (...facts: DetailsOf<N>) => string }

/** What a person is told; undefined where the API's sentence does for people too. */
export const findMessage = <N extends ErrorName>(
  pageMessages: Messages<N>,
  { errorName: refusal, details: facts }: ApiError<N>,
): string | undefined => pageMessages[refusal]?.(...facts)

const words: Messages<HostingErrorName> = {
  bad_code: () =>
    'This is no claim code that works here. Check it, or have the agent make a new link.',
  code_expired: () => 'This claim code has expired. Have the agent make a new link.',
  cross_site: () => 'This did not come from a page that is still good here. Open the page again.',
  not_found: ({ what, see = '' }) =>
    `There is no such ${what}. ${/\b(?:GET|POST) /.test(see) ? '' : see}`.trim(),
  bad_request: ({ problem }) =>
    problem === notOurCursor
      ? 'This part of the list is not there any more. Begin at its first page.'
      : withFieldLabels(problem),
  ref_conflict: () => 'This form was sent before with something else in it. Open its page again.',
  wallet_short: ({ needed, available }) =>
    `This takes ${inWords(needed)} credits and your wallet has ${inWords(available)}. ` +
    'Nothing was moved. Your wallet’s page says how to add some.',
  prices_off: () => 'Prices are not open here: a remix is free, or there is none.',
  blocked_by_scan: ({ reasons }) =>
    `The safety check will not host this page. ${reasons.join(' ')}`,
  not_listable: ({ reasons }) =>
    `This cannot go on Explore yet. ${reasons.join(' ')} Your other changes were kept.`,
  taken_down: ({ reason }) => `This was taken down: ${sentence(reason)} Its maker can appeal.`,
  appealed_already: () =>
    'You have appealed this already. The notes of its agent tell what is decided.',
  bad_asset: ({ why }) => `This file cannot be used: ${why}`,
}

/**
 * A refusal as a page tells it: its status, what it says, and when one may try again. A database or
 * disk that cannot take a write is told so as well; undefined for any other fault.
 */
export function describeError(error: unknown) {
  const refusal = isWriteUnavailable(error) ? new ApiError('try_again', {}) : error
  if (!isHostingError(refusal)) return undefined
  const { status, body } = errorEnvelope(refusal)
  const wait = apiErrorResponse(refusal).headers.get('retry-after')
  const headers: Record<string, string> = wait === null ? {} : { 'retry-after': wait }
  return { status, message: findMessage(words, refusal) ?? body.error, headers }
}
