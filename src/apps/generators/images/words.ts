/** Returns the words of a description, in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** Returns whether a description has one of these words. */
export function hasAnyWord(text: string, words: string): boolean {
  const candidates = wordsOf(text)
  return words.split(' ').some((word) => candidates.includes(word))
}
