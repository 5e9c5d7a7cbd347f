import type { TemplateName } from './catalog.ts'
import { findQuiz, type Topic } from './quiz-topics.ts'

/** Values for the script of a page. */
export type Words = Record<string, string | string[] | number[] | Topic[] | Record<string, string>>

/** The parts of a page that the words of a prompt decide. */
export interface Content {
  title: string
  lead: string
  words: Words
}

const page = (title: string, lead: string, words: Words = {}): Content => ({
  title,
  lead,
  words: { lead, ...words },
})

/** Finds the items of a list: "with milk, eggs and bread". */
function findItems(text: string): string[] {
  const list = /(?::| with | like | for | between )([^.:;]*(?:,| and | or )[^.:;]*)/.exec(text)?.[1]
  const items = (list ?? '')
    .split(/,| and | or /)
    .map((item) => item.replaceAll(/[<>{}]/g, '').trim())
  const short = items.filter((item) => item.length > 1 && item.length < 40).slice(0, 12)
  return short.map((item) => item.charAt(0).toUpperCase() + item.slice(1))
}

type PlainName = Exclude<TemplateName, 'collector' | 'snake'>

/** The content of templates without figures, by the prompt in lower case. */
export const plainContents: Record<PlainName, (text: string) => Content> = {
  master: (text) =>
    page('Game master', 'Say what you do. The game master answers, and remembers you.', {
      wish: text.slice(0, 400),
      opening: 'Tell me your name, or what you would like to play tonight.',
    }),
  quiz(text) {
    const { title, topics } = findQuiz(text)
    return page(title, 'Ten questions with four answers each, and 15 seconds per question.', {
      topics,
    })
  },
  timer(text) {
    const requested = Number(/\b(\d{1,6})[ -]?min/.exec(text)?.[1] ?? 25)
    const first = requested >= 1 && requested <= 180 ? requested : 25
    const minutes = [first, ...[5, 15, 25, 50].filter((one) => one !== first)]
    return page('Timer', 'One thing at a time, until the bell.', { minutes })
  },
  checklist: (text) =>
    page('Checklist', 'Open and completed tasks, saved on this device.', {
      items: findItems(text),
    }),
}
