import { isPlainText, isVisible } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import { isForbidden } from '../../scan/rules/text-policy.ts'

/**
 * What others are to read: plain text that shows and breaks no rule. Refuses bad_request for what
 * is no plain text of `max` characters, text_blocked for what the rules forbid.
 */
export function validateText(text: string, max: number): string {
  if (!isPlainText(text, max) || !isVisible(text)) {
    const problem = `"text" is plain text of 1 to ${max} characters.`
    throw new ApiError('bad_request', { problem, param: 'text' })
  }
  if (isForbidden(text)) throw new ApiError('text_blocked')
  return text
}

/** The beginning of a text, for the note that tells of it. */
export const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const letters = [...line]
  return letters.length > 100 ? `${letters.slice(0, 99).join('')}…` : line
}
