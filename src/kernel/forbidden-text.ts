import { lookUp } from './schema.ts'
import { pattern } from './text.ts'

/** Instructions to agents. */
export const agentOrders = [
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

/** Slurs, in the form that `plain` returns. */
export const slurs = pattern(
  'g',
  String.raw`\b(?:nigg(?:er|ers|a|as|az)|fag(?:got|gots)|kikes?|wetbacks?|ragheads?|`,
  String.raw`towelheads?|trann(?:y|ies)|gooks?|untermensch(?:en)?)\b`,
)

/** Returns the offset of the first slur in a text; undefined if there is none. */
export function findSlur(text: string): number | undefined {
  return new RegExp(slurs.source, 'i').exec(text)?.index
}

/** Returns whether a text has slurs or instructions to agents. */
export function isForbidden(text: string): boolean {
  const words = plain(text)
  return words.search(slurs) >= 0 || agentOrders.some((orders) => words.search(orders) >= 0)
}

/**
 * Returns text in lower case without tricks that hide words: look-alike letters, invisible
 * characters, full-width forms.
 */
export function plain(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]/g, '')
    .toLowerCase()
    .replace(/\p{L}+/gu, latin)
}

/** Converts a word of mixed alphabets to Latin letters. Words of one alphabet stay. */
function latin(word: string): string {
  if (!/[a-z]/.test(word) || !/[^a-z]/.test(word)) return word
  return word.replace(/[^a-z]/g, (letter) => lookUp(lookAlikes, letter) ?? letter)
}

const lookAlikes: Record<string, string> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  ԁ: 'd',
  ɡ: 'g',
  ӏ: 'l',
  ԛ: 'q',
  ԝ: 'w',
  ο: 'o',
  α: 'a',
}
