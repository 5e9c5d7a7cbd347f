import type { Topic } from './quiz-topics.ts'

/** Values for the script of a page. */
export type Words = Record<
  string,
  string | string[] | number | number[] | boolean | Topic[] | Record<string, string>
>

/** The parts of a page that the words of a prompt decide. */
export interface Content {
  title: string
  lead: string
  words: Words
}

/** Creates the content of a page. */
export const page = (title: string, lead: string, words: Words = {}): Content => ({
  title,
  lead,
  words: { lead, ...words },
})
