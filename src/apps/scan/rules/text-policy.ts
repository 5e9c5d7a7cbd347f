import type { Hit } from '../findings.ts'
import { type Page, placeOfWord, plain } from '../page.ts'
import { pattern } from '../pattern.ts'

const agentOrders = [
  pattern(
    'gi',
    String.raw`\b(?:ignore|disregard|forget|override)\s{1,5}(?:all\s{1,5}|`,
    String.raw`any\s{1,5})?(?:of\s{1,5})?(?:the\s{1,5}|your\s{1,5}|my\s{1,5})?(?:previous|`,
    String.raw`prior|above|earlier|preceding|system)\s{1,5}(?:instruction|prompt|rule|message|`,
    String.raw`direction)s?`,
  ),
  pattern(
    'gi',
    String.raw`\b(?:if you are|note to|attention|message (?:to|for)|instructions? (?:to|`,
    String.raw`for))\s{1,5}(?:an?\s{1,5}|all\s{1,5}|any\s{1,5}|the\s{1,5})?(?:ai|`,
    String.raw`artificial intelligence|llm|(?:large )?language model)(?:\s{1,5}(?:agent|`,
    String.raw`assistant|model|crawler|reader|reviewer)s?)?\b`,
  ),
  pattern(
    'gi',
    String.raw`\b(?:reveal|print|send|repeat|`,
    String.raw`show)\s{1,5}(?:me\s{1,5})?your\s{1,5}(?:system\s{1,5}prompt|api\s{1,5}key|`,
    String.raw`hidden\s{1,5}instructions)`,
  ),
  /<\|(?:im_start|system|endoftext)\|>|\[\/?INST\]/g,
]

const slurs = pattern(
  'g',
  String.raw`\b(?:nigg(?:er|ers|a|as|az)|fag(?:got|gots)|kikes?|wetbacks?|ragheads?|`,
  String.raw`towelheads?|trann(?:y|ies)|gooks?|untermensch(?:en)?)\b`,
)

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

/** Returns the offset of the first slur in a text; undefined if there is none. */
export function findSlur(text: string): number | undefined {
  return new RegExp(slurs.source, 'i').exec(text)?.index
}

/** Returns whether a text of an agent or a person breaks this rule. */
export function isForbidden(text: string): boolean {
  const words = plain(text)
  return words.search(slurs) >= 0 || agentOrders.some((orders) => words.search(orders) >= 0)
}
