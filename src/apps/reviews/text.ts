import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { hasVisibleText, isPlainText } from '../../kernel/text.ts'
import { isForbidden } from '../scan/rules/text-policy.ts'

/**
 * Returns a text for others to read. Throws `bad_request` unless it is visible plain text of at
 * most `max` characters, and `text_blocked` if the content rules forbid it.
 */
export function validateText(text: string, max: number): string {
  if (!isPlainText(text, max) || !hasVisibleText(text))
    rejectRequest(`"text" must be plain text of 1 to ${max} characters.`, 'text')
  if (isForbidden(text)) throw new ApiError('text_blocked')
  return text
}

/** Returns the first 100 characters of a text for a notification. */
export const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const letters = [...line]
  return letters.length > 100 ? `${letters.slice(0, 99).join('')}…` : line
}
