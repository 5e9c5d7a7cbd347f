import { sha256 } from '../../../../kernel/ids.ts'
import { catalog, findTemplate, type TemplateName } from './catalog.ts'
import { type Content, plainContents, type Words } from './contents.ts'
import { figureContent, isFigureGame } from './game-contents.ts'

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
  /** Is true for glowing colors on black, in both themes. */
  isNeon: boolean
  /** Values for the page's script. */
  words: Words
}

/** A prompt that no template does, with the reason. */
interface Declined {
  declined: string
}

const quietHues = [252, 22, 148, 302, 180, 52, 355, 278]
const titleCharsMax = 48

/** Analyzes a prompt. Equal prompts give equal results. */
export function analyzePrompt(prompt: string): PageSpec | Declined {
  const text = prompt.replaceAll(/\s+/g, ' ').trim().slice(0, 2_000)
  const low = text.toLowerCase().replaceAll('’', "'")
  const template = findTemplate(low)
  if (template === undefined) return { declined: declineFor() }
  const what = findUnsupported(low)
  if (what !== undefined) return { declined: declineFor(what) }
  const content = contentOf(template, low)
  if ('missing' in content) return { declined: declineFor(`a picture of ${content.missing}`) }
  const pick = Number.parseInt(sha256(low).slice(0, 6), 16)
  return {
    template,
    ...content,
    title: findTitle(text) ?? content.title,
    shelf: catalog[template].shelf,
    hue: findHue(low) ?? quietHues[pick % quietHues.length] ?? 252,
    isNeon: /\b(neon|cyber ?punk|synthwave|vaporwave|glow\w*)\b/.test(low),
    speed: /\b(fast|quick|hectic)/.test(low) ? 1.25 : /\b(slow|calm|relax)/.test(low) ? 0.8 : 1,
  }
}

const contentOf = (template: TemplateName, text: string): Content | { missing: string } =>
  isFigureGame(template) ? figureContent(template, text) : plainContents[template](text)

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
    .replace(
      /^(game|app|page|tool)(?! ?masters?\b)( (about|of|for|where|in which|that|with|to))? /i,
      '',
    )
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

/** Things that no template does, by the words that ask for them beside its own. */
const unsupported: [words: RegExp, what: string][] = [
  [
    /\b(categor(y|ies)|due dates?|reminders?|notifications?|sync\w*|tabata|intervals?|laps?)\b/,
    'categories, reminders or intervals',
  ],
  [
    /\b(multi-?player|(two|2|three|3|four|4)[- ]players?|against (a )?(friend|each other)|online|leader ?boards?|real[- ]?time|chat ?rooms?|messaging|social network)\b/,
    'several players or people online',
  ],
  [
    /\b(log ?in|sign ?(in|up)|user accounts?|database|backend|payments?|checkout)\b/,
    'accounts or a server',
  ],
  [
    /\b(weather|news|stocks?|crypto\w*|bitcoin|currency|exchange rates?|live (data|scores?|prices?)|google maps?|map of|gps|location|youtube|spotify|twitter|wikipedia)\b/,
    'data from the network',
  ],
  [
    /\b(camera|webcam|microphone|voice|speech|photos?|qr|bar ?codes?|pdfs?|e-?mails?|sms)\b/,
    'cameras, voices or documents',
  ],
  [
    /\b(3d|three\.?js|minecraft|first[- ]person|platformer?|mario|zelda|pac-?man|rpg|role[- ]playing|tower defen[cs]e|strategy|city builder|visual novel|pinball|bubble shooter|golf|soccer|football|basketball|fishing|cooking|farming|flappy|runner|rac(e|er|ing)|driving|shoot\w*|invaders|asteroids?|mazes?|tetris|2048|pong|clicker|typing|chess|checkers|poker|solitaire|crossword|pixel[- ]art|kanban|calendar)\b/,
    'something like that',
  ],
  [
    /\b(chat ?bots?|chatgpt|gpt|ai (assistant|tutor|chat)|translat\w+|summari[sz]\w+)\b/,
    'language tasks',
  ],
  [
    /\b(website|web ?page|landing page|portfolio|blog|store|shop for|booking|resume|cv|invitation|dashboard|spreadsheet)\b/,
    'a site or a document',
  ],
]

/** Returns what a prompt asks for that no template does. */
const findUnsupported = (text: string): string | undefined =>
  unsupported.find(([pattern]) => pattern.test(text))?.[1]

/** The way to a real model, for the operator. */
export const howToAddModel =
  'To add one, the operator sets the key of a provider, such as OPENAI_API_KEY, and BUILDER_MODEL to a chat model (docs/models.md).'

/** The pages that the templates make. */
export const readyMadePages =
  'a game of catching and dodging, snake, a quiz, a game master, a checklist and a timer'

/** Returns the reason why a prompt is declined: at most 400 characters reach the maker. */
const declineFor = (what = 'this'): string =>
  `the demo builder cannot make ${what}. It only fills ready-made pages: ${readyMadePages}. The rest needs a model. ${howToAddModel}`

/** OKLCH hues in degrees, with words that name them and words that suggest them. */
const hues: [hue: number, names: RegExp, hints: RegExp][] = [
  [22, /\b(red|crimson|scarlet|ruby)\b/, /\b(cherry|cherries|strawberr\w*)\b/],
  [35, /\b(vermilion)\b/, /\b(fire|lava|volcano|dragons?)\b/],
  [52, /\b(orange|copper|amber)\b/, /\b(fox|pumpkins?|carrots?|autumn)\b/],
  [58, /\b(brown)\b/, /\b(wood|wooden|coffee|bread|desert)\b/],
  [85, /\b(yellow|gold|golden)\b/, /\b(sun|sunny|honey|lemons?)\b/],
  [148, /\b(green|emerald)\b/, /\b(forest|leaf|leaves|gardens?|plants?|grass|frogs?|snakes?)\b/],
  [180, /\b(teal|turquoise|mint|jade)\b/, /\b(harbou?r|lagoon)\b/],
  [215, /\b(cyan)\b/, /\b(ice|icy|frost|water|rain)\b/],
  [252, /\b(blue|azure|sapphire)\b/, /\b(sky|ocean|sea|fish)\b/],
  [278, /\b(indigo|navy)\b/, /\b(night|space|stars?|galaxy|rockets?|spaceships?)\b/],
  [302, /\b(purple|violet|lavender)\b/, /\b(magic|wizards?)\b/],
  [330, /\b(magenta|fuchsia)\b/, /\b(berry|berries)\b/],
  [355, /\b(pink|rose)\b/, /\b(candy|hearts?|love)\b/],
]

/** Returns the hue of the first color name in a text. */
export const findNamedHue = (text: string): number | undefined => findFirst(text, 1)

/** Returns the hue that a text names or, without a color name, suggests first. */
const findHue = (text: string): number | undefined => findNamedHue(text) ?? findFirst(text, 2)

function findFirst(text: string, words: 1 | 2): number | undefined {
  const low = text.toLowerCase()
  const found = hues.map((row) => ({ hue: row[0], at: low.search(row[words]) }))
  return found.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at)[0]?.hue
}
