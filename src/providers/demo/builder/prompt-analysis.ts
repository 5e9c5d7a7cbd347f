import { sha256 } from '../../../core/ids.ts'
import { findHue } from './hues.ts'
import { findQuiz, type Topic } from './quiz-topics.ts'

export type TemplateName = (typeof games)[number][0] | (typeof apps)[number][0]

/** The content of a page, derived from a prompt. */
export interface PageSpec {
  template: TemplateName
  title: string
  /** One sentence under the title. */
  lead: string
  shelf: string
  /** OKLCH hue in degrees. */
  hue: number
  /** Speed of moving things; 1 is the template's own. */
  speed: number
  /** Values for the page's script. */
  words: Record<string, string | string[] | number | number[] | Topic[]>
}

/**
 * Templates with their shelf and keywords. The first match applies; the last row always matches.
 */
const quiz = ['quiz', 'learn', /\b(quiz\w*|trivia|multiple choice)\b/] as const
const games = [
  quiz,
  ['memory', 'puzzle', /\b(memory|pairs?|match\w*|cards?|concentration)\b/],
  ['breakout', 'arcade', /\b(breakout|break ?out|bricks?|paddle|arkanoid|pong)\b/],
  ['snake', 'arcade', /\b(snakes?|worm|caterpillar|slither)\b/],
  ['collector', 'arcade', /(?:)/],
] as const
const apps = [
  quiz,
  ['timer', 'tools', /\b(timers?|pomodoro|countdown|stopwatch|focus|minutes?|clock|meditat\w*)\b/],
  [
    'tracker',
    'data',
    /\b(track\w*|habits?|charts?|count\w*|water|steps|weight|streaks?|goals?|log)\b/,
  ],
  ['notes', 'writing', /\b(notes?|notebook|journal|diary|memos?|ideas?|editor)\b/],
  ['checklist', 'tools', /(?:)/],
] as const

const quietHues = [252, 22, 148, 302, 180, 52, 355, 278]
const titleCharsMax = 48

/** Analyzes a prompt. Equal prompts give equal results. */
export function analyzePrompt(prompt: string, kind: 'app' | 'game'): PageSpec {
  const text = prompt.replaceAll(/\s+/g, ' ').trim().slice(0, 2_000)
  const low = text.toLowerCase()
  const rows = kind === 'game' ? games : apps
  const [template, shelf] = rows.find(([, , words]) => words.test(low)) ?? rows[0]
  const pick = Number.parseInt(sha256(low).slice(0, 6), 16)
  const content = contents[template](low)
  return {
    template,
    ...content,
    title: findTitle(text) ?? content.title,
    shelf,
    hue: findHue(low) ?? quietHues[pick % quietHues.length] ?? 252,
    speed: /\b(fast|quick|hectic)/.test(low) ? 1.25 : /\b(slow|calm|relax)/.test(low) ? 0.8 : 1,
  }
}

/** Finds a name in a text: called X, or "X". */
export function findName(text: string): string | undefined {
  const pattern = /\b(?:call(?:ed)?|named?|titled?|rename)(?: it| this| to)* ["“']?([^"”'.,;:!?]+)/i
  const name = pattern.exec(text)?.[1] ?? /["“]([^"”]{2,48})["”]/.exec(text)?.[1]
  return name === undefined ? undefined : shorten(name)
}

function findTitle(text: string): string | undefined {
  const named = findName(text)
  if (named) return named
  const start = text
    .replace(/^(please |can you |could you )*(make|build|create|write|design|give)( me| us)? /i, '')
    .replace(/^(an?|the|some) /i, '')
    .replace(/^((small|little|simple|tiny|nice|fun|beautiful|web) )+/i, '')
    .replace(/^(game|app|page|tool)( (about|of|for|where|in which|that|with|to))? /i, '')
    .replace(/^(you|i|the player|an?|the) /i, '')
  return shorten(start.split(/[.,;:!?(]| (?:where|in which|that|which|with|and|so) /i)[0] ?? '')
}

function shorten(text: string): string | undefined {
  const words = text
    .replaceAll(/[<>{}\p{C}]/gu, '')
    .trim()
    .split(' ')
  let line = ''
  for (const word of words) {
    if (line.length + word.length > titleCharsMax) break
    line = line ? `${line} ${word}` : word
  }
  return line === '' ? undefined : line.charAt(0).toUpperCase() + line.slice(1)
}

type Content = Pick<PageSpec, 'title' | 'lead' | 'words'>

const stops = /^(and|while|to|that|which|from|with|in|on|as|by|or|before|at|for|of|the|a|an|but)$/

/** Finds the one or two plain words after a verb. */
function findObject(text: string, verbs: RegExp, other: string): string {
  const tail = text.split(verbs)[1] ?? ''
  const plain = tail.replace(/^(?:(?:the|some|all|falling|as many|many|a|an) )+/, '')
  const words = plain.match(/^[a-z-]{2,16}(?: [a-z-]{2,16})?/)?.[0].split(' ') ?? []
  const object = words.slice(0, words.findIndex((word) => stops.test(word)) >>> 0)
  return object.join(' ') || other
}

function findHero(text: string): string {
  const acts = '(?:who |that |which |to )?(?:collect|catch|gather|eat|grab|dodg|avoid|pick|jump)'
  const named = new RegExp(`\\b(?:an?|the|my|your) ((?:[a-z-]+ )?[a-z-]+) ${acts}`).exec(text)?.[1]
  return (named ?? findObject(text, / (?:with|as) (?:an? )?/, 'fox')).replace(/^(an?|the) /, '')
}

const collecting = /\b(?:collect|catch|gather|eat|grab|pick(?: up)?)(?:s|es|ing)? /
const places =
  /\b(space|sea|ocean|beach|reef|forest|jungle|desert|city|snow|winter|night|sunset|volcano|mountains)\b/
const dodging = /\b(?:dodg|avoid|escap|evad|flee)(?:e|es|s|ing)?(?: from)? /

const cards = [
  [/\b(space|stars?|planets?|rockets?)\b/, 'rocket ufo planet star moon comet sun robot'],
  [/\b(sea|ocean|fish|harbou?r)\b/, 'fish crab octopus shark boat whale turtle anchor'],
  [/\b(food|fruit|kitchen|cook\w*)\b/, 'apple cherry cake pizza mushroom lemon pumpkin cookie'],
  [/\b(magic|castle|dragons?|knights?)\b/, 'dragon knight castle potion sword gem key chest'],
  [/(?:)/, 'cat dog bird fish frog bee ladybug owl'],
] as const

const contents: Record<TemplateName, (text: string) => Content> = {
  collector(text) {
    const [hero, good, bad] = [
      findHero(text),
      findObject(text, collecting, 'coins'),
      findObject(text, dodging, 'rocks'),
    ]
    const title = `The ${hero} and the ${good}`
    const place = places.exec(text)?.[0] ?? 'sunny hills'
    const lead = `Catch the ${good}, dodge the ${bad}.`
    return { title, lead, words: { hero, good, bad, place } }
  },
  quiz(text) {
    const { title, topics } = findQuiz(text)
    const lead = 'Ten questions with four answers each, and 15 seconds per question.'
    return { title, lead, words: { lead, topics } }
  },
  snake(text) {
    const good = findObject(text, collecting, 'apples')
    return { title: 'Snake', lead: `Eat the ${good} and grow.`, words: { good } }
  },
  breakout(text) {
    const good = findObject(text, /\bbricks? of /, 'coins')
    return { title: 'Breakout', lead: 'Break every wall with one ball.', words: { good } }
  },
  memory(text) {
    const list = cards.find(([words]) => words.test(text))?.[1] ?? cards[4][1]
    return { title: 'Pairs', lead: 'Find the eight pairs.', words: { cards: list.split(' ') } }
  },
  checklist(text) {
    const items = findItems(text)
    const lead = 'Open and completed tasks, saved on this device.'
    return { title: 'Checklist', lead, words: { lead, items } }
  },
  timer(text) {
    const given = Number(/\b(\d{1,3})[ -]?min/.exec(text)?.[1] ?? 25)
    const first = Math.max(1, Math.min(180, given))
    const minutes = [first, ...[5, 15, 25, 50].filter((one) => one !== first)]
    const lead = 'One thing at a time, until the bell.'
    return { title: 'Timer', lead, words: { lead, minutes } }
  },
  notes() {
    const lead = 'Your notes are saved on this device.'
    const first = 'First note\nThe first line is the title. Edit this note or create a new one.'
    return { title: 'Notes', lead, words: { lead, first } }
  },
  tracker(text) {
    const [, unit = 'times', goal = 5, steps = [1, 2]] =
      units.find(([words]) => words.test(text)) ?? []
    const given = Number(/\b(\d{1,5})\b/.exec(text)?.[1] ?? goal)
    const lead = 'A little every day. The dashed line is your goal.'
    const words = { lead, unit, goal: Math.max(1, given), steps: [...steps] }
    return { title: 'Tracker', lead, words }
  },
}

const units: [words: RegExp, unit: string, goal: number, steps: number[]][] = [
  [/\b(water|drink\w*|glass\w*)\b/, 'glasses', 8, [1, 2]],
  [/\b(pages?|read\w*|books?)\b/, 'pages', 20, [1, 5, 10]],
  [/\b(steps|walk\w*)\b/, 'steps', 8_000, [500, 1_000, 2_500]],
  [/\b(run\w*|km|kilomet\w*|cycl\w*)\b/, 'km', 5, [1, 2, 5]],
  [/\b(push-?ups?|squats?|workout|exercise\w*)\b/, 'push-ups', 30, [5, 10, 20]],
  [/\b(minutes|meditat\w*|practi\w*)\b/, 'minutes', 20, [5, 10, 20]],
]

/** Finds the items of a list: "with milk, eggs and bread". */
function findItems(text: string): string[] {
  const list = /(?::| with | like )([^.:;]*,[^.:;]*)/.exec(text)?.[1] ?? ''
  const items = list.split(/,| and /).map((item) => item.replaceAll(/[<>{}]/g, '').trim())
  const short = items.filter((item) => item.length > 1 && item.length < 60).slice(0, 12)
  return short.map((item) => item.charAt(0).toUpperCase() + item.slice(1))
}
