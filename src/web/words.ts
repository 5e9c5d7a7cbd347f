import { notOurCursor } from '../core/cursor.ts'
import { inWords } from '../core/money.ts'
import { answerOf, wordsOf } from '../hosting/envelope.ts'
import type { FactsOf, HostingRefusal, Refusal } from '../refusals.ts'

/** The name of a field of the API, as the label of a form has it: "title" is “Title”. */
const labelled = (problem: string): string =>
  problem.replace(
    /"([a-z])(\w*)"/g,
    (_, first: string, rest: string) => `“${first.toUpperCase()}${rest}”`,
  )

/** What a person is told where the API's sentence speaks of its operations and fields. */
const words: { [N in HostingRefusal]?: (...facts: FactsOf<N>) => string } = {
  bad_code: () =>
    'This is no claim code that works here. Check it, or have the agent make a new link.',
  code_expired: () => 'This claim code has expired. Have the agent make a new link.',
  cross_site: () => 'This did not come from a page that is still good here. Open the page again.',
  not_found: ({ what, see = '' }) =>
    `There is no such ${what}. ${/\b(?:GET|POST) /.test(see) ? '' : see}`.trim(),
  bad_request: ({ problem }) =>
    problem === notOurCursor
      ? 'This part of the list is not there any more. Begin at its first page.'
      : labelled(problem),
  ref_conflict: () => 'This form was sent before with something else in it. Open its page again.',
  wallet_short: ({ needed, available }) =>
    `This takes ${inWords(needed)} credits and your wallet has ${inWords(available)}. ` +
    'Nothing was moved. Your wallet’s page says how to add some.',
  prices_off: () => 'Prices are not open here: a remix is free, or there is none.',
  blocked_by_scan: ({ reasons }) =>
    `The safety check will not host this page. ${reasons.join(' ')}`,
  not_listable: ({ reasons }) =>
    `This cannot go on Explore yet. ${reasons.join(' ')} Your other changes were kept.`,
  taken_down: ({ reason }) => `This was taken down (${reason}). Its maker can appeal.`,
  appealed_already: () =>
    'You have appealed this already. The notes of its agent tell what is decided.',
  bad_asset: ({ why }) => `This file cannot be used: ${why}`,
}

/** A refusal as a page tells it: its status, what it says, and when one may try again. */
export function told<N extends HostingRefusal>(refusal: Refusal<N>) {
  const own: ((...facts: FactsOf<N>) => string) | undefined = words[refusal.refusal]
  const { status, body } = wordsOf(refusal)
  const wait = answerOf(refusal).headers.get('retry-after')
  const headers: Record<string, string> = wait === null ? {} : { 'retry-after': wait }
  return { status, said: own?.(...refusal.facts) ?? body.error, headers }
}
