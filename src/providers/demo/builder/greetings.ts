import { type Content, page } from './content.ts'

const occasions: [words: RegExp, face: string, headline: string, message: string][] = [
  [
    /\bvalentine/,
    'heart',
    'Be my Valentine',
    'You make every day better. I am glad that you are here.',
  ],
  [
    /\banniversary\b/,
    'heart',
    'Happy anniversary',
    'To the years behind you, and to all that are to come.',
  ],
  [
    /\bchristmas\b/,
    'tree',
    'Merry Christmas',
    'May your days be warm, calm and full of good company.',
  ],
  [/\bthank/, 'heart', 'Thank you', 'What you did meant a lot to me.'],
  [/\bget well\b/, 'heart', 'Get well soon', 'Rest, drink tea, and come back when you are ready.'],
  [/\bcongrat/, 'star', 'Congratulations', 'You worked hard for this. Well done!'],
  [
    /(?:)/,
    'cake',
    'Happy birthday',
    'May this year bring good friends, long walks and plenty of cake.',
  ],
]

/** Creates the content of a greeting card. */
export function createGreeting(text: string): Content {
  const [, face, wish, message] =
    occasions.find(([words]) => words.test(text)) ?? occasions[6] ?? []
  const to = /\bfor (?:my )?([a-z][a-z'-]{1,20})\b/.exec(text)?.[1] ?? ''
  const name = to && to.charAt(0).toUpperCase() + to.slice(1)
  const headline = name ? `${wish}, ${name}!` : `${wish}!`
  return page(headline, '', { face: face ?? '', headline, message: message ?? '' })
}
