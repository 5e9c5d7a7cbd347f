import { agentOrders, slurs } from '../../../kernel/forbidden-text.ts'
import type { Hit } from '../findings.ts'
import { type Page, placeOfWord } from '../page.ts'

/** Slurs in visible text, and instructions to agents anywhere, since agents read the source. */
export function* textPolicy(page: Page): Generator<Hit> {
  for (const found of page.words.matchAll(slurs))
    yield { code: 'text.policy', at: placeOfWord(page, found.index) }
  for (const orders of agentOrders)
    for (const found of page.html.matchAll(orders))
      yield {
        code: 'text.policy',
        at: found.index,
        help:
          'Remove the instructions to agents. The text of a page must not give orders to the agents ' +
          'that read it.',
      }
}
