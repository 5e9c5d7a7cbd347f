/** Kinds of JavaScript tokens. CHUNK is the text between the signs of a template. */
export const NAME = 1
export const TEXT = 2
export const CHUNK = 3
export const NUMBER = 4
export const PUNCT = 5
export const REGEX = 6

/** Takes one token: its kind, its cooked text, the offset where it starts. */
export type AddToken = (kind: number, text: string, start: number) => void
