import { asString, isRecord, itemsOf } from '../../../kernel/schema.ts'
import { reject } from '../error-body.ts'
import type { SentRequest } from '../upstream.ts'
import type { DemoRequest } from './request.ts'

/** Words that flag a text, by category of OpenAI. */
const categories: Record<string, RegExp> = {
  harassment: /\b(idiot|stupid)\b/i,
  violence: /\b(kill|murder|attack)\b/i,
  'self-harm': /\bhurt myself\b/i,
  sexual: /\bporn\b/i,
  illicit: /\bsteal\b/i,
  hate: /\bhate\b/i,
}

/** Flags texts by a few words. */
export function moderate({ model, body, created }: DemoRequest): SentRequest {
  const inputs = textsOf(body.input)
  if (inputs.length === 0) return reject(400, 'input is empty.')
  const results = inputs.map((text) => {
    const flags = Object.entries(categories).map(([name, pattern]): [string, boolean] => [
      name,
      pattern.test(text),
    ])
    return {
      flagged: flags.some(([, isFlagged]) => isFlagged),
      categories: Object.fromEntries(flags),
      category_scores: Object.fromEntries(
        flags.map(([name, isFlagged]) => [name, isFlagged ? 0.99 : 0.01]),
      ),
      category_applied_input_types: Object.fromEntries(flags.map(([name]) => [name, ['text']])),
    }
  })
  return { json: { id: `modr-${created}`, model, results } }
}

/** Returns the texts of an input; the parts of one input are one text. */
function textsOf(input: unknown): string[] {
  if (typeof input === 'string') return [input]
  const items = itemsOf(input)
  const parts = items.filter(isRecord)
  return parts.length > 0
    ? [parts.map(({ text }) => asString(text)).join('\n')]
    : items.map(asString)
}
