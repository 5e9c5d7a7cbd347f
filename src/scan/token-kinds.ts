/** Kinds of JavaScript tokens. CHUNK is literal text in a template. */
export const NAME = 1
export const TEXT = 2
export const CHUNK = 3
export const NUMBER = 4
export const PUNCT = 5
export const REGEX = 6

/** Receives one token: its kind, its cooked text, and its start offset. */
export type AddToken = (kind: number, text: string, start: number) => void
