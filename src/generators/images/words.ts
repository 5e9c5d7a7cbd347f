/** The words of a wish, in small letters. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** Whether a wish has one of these words. */
export function asks(text: string, words: string): boolean {
  const asked = wordsOf(text)
  return words.split(' ').some((word) => asked.includes(word))
}
