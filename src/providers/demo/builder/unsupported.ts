import type { TemplateName } from './catalog.ts'

/** Things that no template does, by the words that ask for them. */
const unsupported: [words: RegExp, what: string][] = [
  [
    /\b(categor(y|ies)|due dates?|reminders?|notifications?|sync\w*|tabata|intervals?)\b/,
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
    /\b(3d|three\.?js|minecraft|first[- ]person|platformer|mario|zelda|pac-?man|rpg|role[- ]playing|tower defen[cs]e|strategy|city builder|visual novel|text adventure|pinball|bubble shooter|platform game|kaleidoscope|golf|soccer|football|basketball|fishing|cooking|farming)\b/,
    'a game like that',
  ],
  [
    /\b(chess|checkers|backgammon|poker|black ?jack|solitaire|uno|crossword|battleships?|scrabble|mahjong)\b/,
    'that board, card or word game',
  ],
  [
    /\b(chat ?bots?|chatgpt|gpt|ai (assistant|tutor|chat)|translat\w+|summari[sz]\w+)\b/,
    'language tasks',
  ],
  [
    /\b(website|web ?page|landing page|portfolio|blog|store|shop for|booking|resume|cv|invitation|dashboard|spreadsheet|calendar)\b/,
    'a site or a document',
  ],
]

/** Kinds that a second person at the same screen can join. */
const forTwo: ReadonlySet<TemplateName> = new Set(['tictactoe', 'four', 'scoreboard', 'dice'])

/** Returns what a prompt asks for that its template does not do. */
export function findUnsupported(text: string, template: TemplateName): string | undefined {
  const words = forTwo.has(template) ? text.replaceAll(/\b(two|2)[- ]players?\b/g, '') : text
  return unsupported.find(([pattern]) => pattern.test(words))?.[1]
}

const needsModel =
  'It only fills ready-made templates. This needs a real model, which the operator sets as BUILDER_MODEL.'

/** Returns the reason why a prompt is declined. */
export const declineFor = (what?: string): string =>
  what === undefined
    ? `the demo builder has no template for this. ${needsModel}`
    : `the demo builder cannot make ${what}. ${needsModel}`
