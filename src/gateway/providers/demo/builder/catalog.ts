/** A kind of page: the kit that it extends, its shelf, and the keywords that select it. */
interface CatalogRow {
  kit: 'game' | 'app'
  shelf: string
  keywords: RegExp
}

const row = (kit: CatalogRow['kit'], shelf: string, keywords: RegExp): CatalogRow => ({
  kit,
  shelf,
  keywords,
})

/**
 * The templates by file name. The first row whose keywords a prompt has applies, so special kinds
 * come before general ones.
 */
export const catalog = {
  scoreboard: row(
    'app',
    'tools',
    /\b(score ?(board|keep\w*|card)|keep(s|ing)? (the )?score|tally)\b/,
  ),
  drums: row('app', 'music', /\b(drums?|drum ?machine|beat ?(maker|box|machine)|sequencer)\b/),
  piano: row(
    'app',
    'music',
    /\b(piano|synth\w*|xylophone|(musical|music) (keyboard|instrument))\b/,
  ),
  metronome: row('app', 'music', /\b(metronome|bpm)\b/),
  typing: row('game', 'learn', /\b(typing|touch[- ]typ\w+|words per minute|wpm)\b/),
  flashcards: row('app', 'learn', /\b(flash ?cards?|vocabulary|vocab)\b/),
  memory: row(
    'game',
    'puzzle',
    /\b(memory|concentration|pairs|match(ing)? (the |two )?(cards?|pairs|tiles)|card match\w*)\b/,
  ),
  simon: row('game', 'puzzle', /\b(simon|repeat the (pattern|sequence|colou?rs|lights|notes))\b/),
  wordguess: row('game', 'puzzle', /\b(wordle|word guess\w*|guess(ing)? (the|a) (secret )?word)\b/),
  hangman: row('game', 'puzzle', /\bhang ?man\b/),
  maths: row(
    'game',
    'learn',
    /\b((multiplication|times) tables?|maths? (quiz|game|trainer|practice|drill\w*|test)|mental (math|arithmetic)\w*|arithmetic)\b/,
  ),
  number: row('game', 'puzzle', /\b(guess\w* (the|a|my) (secret )?number|number guess\w*)\b/),
  rps: row('game', 'arcade', /\brock,? paper,?( and)? scissors\b/),
  life: row('app', 'sim', /\b(game of life|conway\w*|cellular automat\w+)\b/),
  quiz: row('game', 'learn', /\b(quiz\w*|trivia|multiple choice)\b/),
  tictactoe: row('game', 'puzzle', /\b(tic[- ]?tac[- ]?toe|noughts and crosses)\b/),
  four: row('game', 'puzzle', /\b(connect[- ]?(four|4)|four in a row)\b/),
  twenty48: row('game', 'puzzle', /\b(2048|(merge|merging|join) (the )?(tiles|numbers))\b/),
  blocks: row(
    'game',
    'arcade',
    /\b(tetris|tetromino\w*|(falling|stacking) blocks?|block stack\w*)\b/,
  ),
  mines: row('game', 'puzzle', /\b(mine ?sweeper|mine ?field)\b/),
  sudoku: row('game', 'puzzle', /\bsudoku\b/),
  slide: row(
    'game',
    'puzzle',
    /\b(slid(ing|e) (tile |number )?(puzzle|tiles?)|(15|fifteen)[- ]puzzle)\b/,
  ),
  maze: row('game', 'puzzle', /\b(mazes?|labyrinth)\b/),
  breakout: row('game', 'arcade', /\b(breakout|break ?out|bricks?|arkanoid)\b/),
  pong: row('game', 'arcade', /\b(pong|ping[- ]?pong|table tennis|paddles?)\b/),
  snake: row('game', 'arcade', /\b(snakes?|slither\w*|caterpillar)\b/),
  flappy: row('game', 'arcade', /\b(flappy|flap\w*|fl(y|ies|ying) (through|between|past))\b/),
  runner: row('game', 'arcade', /\b(endless runner|runner|running game|dino game|jump\w* over)\b/),
  racer: row('game', 'arcade', /\b(rac(e|es|er|ing)|(car|driving) game|traffic|highway)\b/),
  shooter: row(
    'game',
    'arcade',
    /\b(shoot\w*|invaders|asteroids?|lasers?|blast\w*|space battle)\b/,
  ),
  whack: row('game', 'arcade', /\b(whack\w*|moles?|pop (the )?(balloons?|bubbles?))\b/),
  clicker: row('game', 'sim', /\b(clicker|idle game|incremental)\b/),
  reaction: row('game', 'arcade', /\b(reactions?|reflex\w*)\b/),
  formula: row(
    'app',
    'tools',
    /\b(tips?|split\w* (the |a )?bill|bmi|body mass|mortgage|loan|compound interest|savings|percent\w*|discount|fuel (cost|price)\w*|trip cost|age calculator|how old|servings|scale (a |my )?recipes?|recipe scaler)\b/,
  ),
  converter: row(
    'app',
    'tools',
    /\b((unit|currency|temperature|length|weight) convert\w*|convert\w*|celsius|fahrenheit)\b/,
  ),
  calculator: row('app', 'tools', /\bcalculators?\b/),
  password: row('app', 'tools', /\b(passwords?|passphrase)\b/),
  dice: row(
    'app',
    'tools',
    /\b(dice|die roller|d20|coin (flip\w*|toss\w*)|flip(s|ping)? a coin)\b/,
  ),
  oracle: row(
    'app',
    'social',
    /\b(magic 8|8[- ]?ball|fortune|yes or no|decision maker|decide|excuses?|compliments?|jokes?|(inspir\w+ |random )?quotes?|(idea|prompt|story|name|band name) generator|what to (eat|cook)|dinner (ideas?|picker))\b/,
  ),
  wheel: row(
    'app',
    'tools',
    /\b((spin\w*|prize|lucky) (the )?wheel|wheel of|wheel|(random |name |winner )picker|pick(s|ing)? (a |the )?(random )?(name|winner|student|person)|raffle)\b/,
  ),
  pixel: row('app', 'art', /\bpixel[- ]?(art|editor|draw\w*|paint\w*)\b/),
  draw: row('app', 'art', /\b(draw\w*|paint\w*|sketch\w*|white ?board|doodl\w*)\b/),
  palette: row('app', 'art', /\b(palettes?|colou?r (schemes?|generator|picker|combinations?))\b/),
  particles: row(
    'app',
    'art',
    /\b(fireworks?|particles?|star ?field|snow ?fall|screensaver|generative art|lava lamp)\b/,
  ),
  kanban: row('app', 'tools', /\b(kanban|trello|task board|project board)\b/),
  budget: row('app', 'data', /\b(budget\w*|expenses?|spending|finances?)\b/),
  greeting: row(
    'app',
    'social',
    /\b((birthday|greeting|anniversary|christmas|valentine'?s?|thank[- ]you|get well|congratulations?) (card|message|greeting|page)|(happy|merry) (birthday|christmas|anniversary))\b/,
  ),
  breathe: row('app', 'other', /\b(breath\w*)\b/),
  stopwatch: row('app', 'tools', /\b(stop ?watch|lap timer)\b/),
  timer: row('app', 'tools', /\b(timers?|pomodoro|focus|\d+[- ]minutes?|meditat\w*)\b/),
  countdown: row('app', 'tools', /\b(count ?down|days (until|till|to|left)|how many days)\b/),
  clock: row('app', 'tools', /\b(clocks?|time ?zones?|world time)\b/),
  textstats: row(
    'app',
    'writing',
    /\b((word|character|letter)s? count\w*|count(s|ing)? (the )?(words|characters|letters)|case converter)\b/,
  ),
  tracker: row(
    'app',
    'data',
    /\b(habits?|streaks?|drink(ing)? more water|(water|step|steps|reading|workout|exercise|weight)[- ](track\w*|log|counter|goals?)|track\w* (how |my |the |of |daily )*(much |many )?(water|steps|pages|books|reading|running|km|push-?ups|workouts?|exercise|minutes|weight|glasses|habits?|practice))\b/,
  ),
  notes: row('app', 'writing', /\b(notes?|notebook|notepad|journal|diary|memos?)\b/),
  checklist: row(
    'app',
    'tools',
    /\b(to-?dos?|to do list|check ?lists?|(shopping|packing|bucket|grocery|task|chore|wish) ?lists?|grocer(y|ies)|chores?|tasks)\b/,
  ),
  collector: row('game', 'arcade', /\b(collect\w*|catch\w*|gather\w*|grab\w*|dodg\w*|avoid\w*)\b/),
} as const satisfies Record<string, CatalogRow>

export type TemplateName = keyof typeof catalog

const isTemplate = (name: string): name is TemplateName => Object.hasOwn(catalog, name)
const names = Object.keys(catalog).filter(isTemplate)

/** Returns the template of a prompt in lower case; undefined when none makes what it describes. */
export const findTemplate = (text: string): TemplateName | undefined =>
  names.find((name) => catalog[name].keywords.test(text))
