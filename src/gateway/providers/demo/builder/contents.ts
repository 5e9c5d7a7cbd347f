import { lookUp } from '../../../../kernel/schema.ts'
import type { TemplateName } from './catalog.ts'
import { findQuiz, type Topic } from './quiz-topics.ts'

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
const page = (title: string, lead: string, words: Words = {}): Content => ({
  title,
  lead,
  words: { lead, ...words },
})

const isTwo = (text: string): boolean => /\b(two|2)[- ]players?\b/.test(text)

/** Returns the first number before a word within bounds, or `other`. */
function findNumber(text: string, after: RegExp, [low, high]: number[], other: number): number {
  const found = Number(new RegExp(`\\b(\\d{1,6})[ -]?(?:${after.source})`).exec(text)?.[1] ?? other)
  return found >= (low ?? 0) && found <= (high ?? found) ? found : other
}

/** Finds the items of a list: "with milk, eggs and bread". */
function findItems(text: string): string[] {
  const list = /(?::| with | like | for | between )([^.:;]*(?:,| and | or )[^.:;]*)/.exec(text)?.[1]
  const items = (list ?? '')
    .split(/,| and | or /)
    .map((item) => item.replaceAll(/[<>{}]/g, '').trim())
  const short = items.filter((item) => item.length > 1 && item.length < 40).slice(0, 12)
  return short.map((item) => item.charAt(0).toUpperCase() + item.slice(1))
}

const formulas: [words: RegExp, formula: string, title: string][] = [
  [/\b(bmi|body mass)\b/, 'bmi', 'BMI calculator'],
  [/\b(mortgage|loan)\b/, 'loan', 'Loan calculator'],
  [/\b(compound interest|savings)\b/, 'savings', 'Savings calculator'],
  [/\b(discount|sale)\b/, 'discount', 'Discount calculator'],
  [/\b(fuel|trip cost)\b/, 'fuel', 'Fuel cost'],
  [/\b(age|how old)\b/, 'age', 'Age calculator'],
  [/\b(servings|recipes?)\b/, 'recipe', 'Recipe scaler'],
  [/\b(tips?|bill)\b/, 'tip', 'Tip calculator'],
  [/\bpercent\w*\b/, 'percent', 'Percentages'],
]

const units: [words: RegExp, unit: string, goal: number, steps: number[]][] = [
  [/\b(water|drink\w*|glass\w*)\b/, 'glasses', 8, [1, 2]],
  [/\b(pages?|read\w*|books?)\b/, 'pages', 20, [1, 5, 10]],
  [/\b(steps|walk\w*)\b/, 'steps', 8_000, [500, 1_000, 2_500]],
  [/\b(run\w*|km|kilomet\w*|cycl\w*)\b/, 'km', 5, [1, 2, 5]],
  [/\b(push-?ups?|squats?|workout|exercise\w*)\b/, 'push-ups', 30, [5, 10, 20]],
  [/\b(minutes|meditat\w*|practi\w*)\b/, 'minutes', 20, [5, 10, 20]],
]

const cards = [
  [/\b(space|stars?|planets?|rockets?)\b/, 'rocket ufo planet star moon comet sun robot'],
  [/\b(sea|ocean|fish|harbou?r)\b/, 'fish crab octopus shark boat whale turtle anchor'],
  [/\b(food|fruit|kitchen|cook\w*)\b/, 'apple cherry cake pizza mushroom lemon pumpkin cookie'],
  [/\b(magic|castle|dragons?|knights?)\b/, 'dragon knight castle potion sword gem key chest'],
  [/(?:)/, 'cat dog bird fish frog bee ladybug owl'],
] as const

const decks: [words: RegExp, cards: string][] = [
  [
    /\bspanish\b/,
    'hello|hola;thank you|gracias;water|agua;bread|pan;tree|árbol;dog|perro;to eat|comer;tomorrow|mañana',
  ],
  [
    /\bfrench\b/,
    'hello|bonjour;thank you|merci;water|eau;bread|pain;tree|arbre;dog|chien;to eat|manger;tomorrow|demain',
  ],
  [
    /\bgerman\b/,
    'hello|hallo;thank you|danke;water|Wasser;bread|Brot;tree|Baum;dog|Hund;to eat|essen;tomorrow|morgen',
  ],
  [
    /\bitalian\b/,
    'hello|ciao;thank you|grazie;water|acqua;bread|pane;tree|albero;dog|cane;to eat|mangiare;tomorrow|domani',
  ],
  [/(?:)/, 'Capital of Japan|Tokyo;7 × 8|56;Chemical sign of gold|Au;Largest planet|Jupiter'],
]

const days: [words: RegExp, title: string, day: number[]][] = [
  [/\bchristmas|xmas\b/, 'Christmas', [12, 25]],
  [/\bnew year/, 'New Year', [1, 1]],
  [/\bhalloween\b/, 'Halloween', [10, 31]],
  [/\bvalentine/, 'Valentine’s Day', [2, 14]],
  [/\bsummer\b/, 'Summer', [6, 21]],
  [/(?:)/, 'The big day', [7, 1]],
]

const scenes = /\b(fireworks?|stars?|star ?field|snow|bubbles?|trails?)/

const scene = (text: string): string => {
  const found = scenes.exec(text)?.[1] ?? 'firework'
  return (
    lookUp({ f: 'fireworks', b: 'bubbles', t: 'trails' }, found.charAt(0)) ??
    (found.startsWith('sn') ? 'snow' : 'stars')
  )
}

const conversions: [words: RegExp, kind: string, units: string[]][] = [
  [/\b(celsius|fahrenheit|temperature)\b/, 'Temperature', ['°C', '°F']],
  [/\b(kg|kilos?|pounds?|lbs?|weight|ounces?)\b/, 'Weight', ['kg', 'pound']],
  [/\b(lit(er|re)s?|cups?|gallons?|volume|ml)\b/, 'Volume', ['cup (US)', 'ml']],
  [/\b(mph|km\/h|speed)\b/, 'Speed', ['km/h', 'mph']],
  [/\b(acres?|hectares?|area)\b/, 'Area', ['acre', 'hectare']],
  [/\b(miles?|km|kilomet\w+)\b/, 'Length', ['mile', 'km']],
  [/\b(inch\w*|cm|centimet\w+)\b/, 'Length', ['inch', 'cm']],
  [/(?:)/, 'Length', ['m', 'foot']],
]

type PlainName = Exclude<
  TemplateName,
  'collector' | 'flappy' | 'runner' | 'shooter' | 'maze' | 'whack' | 'clicker' | 'snake'
>

/** The content of templates without figures, by the prompt in lower case. */
export const plainContents: Record<PlainName, (text: string) => Content> = {
  drums: (text) =>
    page('Drum machine', 'Program a beat, one step at a time.', {
      steps: findNumber(text, /steps?/, [4, 32], 16),
      tempo: findNumber(text, /bpm/, [60, 180], 112),
    }),
  piano: () => page('Piano', ''),
  metronome: (text) => page('Metronome', '', { tempo: findNumber(text, /bpm/, [30, 240], 100) }),
  typing: () => page('Typing test', 'One minute of sentences.'),
  flashcards: (text) =>
    page('Flash cards', '', {
      cards: (decks.find(([words]) => words.test(text))?.[1] ?? '').split(';'),
    }),
  memory(text) {
    const list = cards.find(([words]) => words.test(text))?.[1] ?? cards[4][1]
    return page('Pairs', 'Find the eight pairs.', { cards: list.split(' ') })
  },
  hangman: () => page('Hangman', 'Guess the word letter by letter.'),
  maths(text) {
    const signs = [
      [/\b(multipl\w+|times)\b/, '×'],
      [/\b(divi\w+)\b/, '÷'],
      [/\b(add\w*|plus|sums?)\b/, '+'],
      [/\b(subtract\w*|minus)\b/, '−'],
    ] as const
    const named = signs.filter(([words]) => words.test(text)).map(([, sign]) => sign)
    return page('Arithmetic', 'One minute of sums.', {
      signs: named.length > 0 ? named : ['+', '−', '×'],
    })
  },
  number: (text) =>
    page('Guess the number', 'Higher or lower?', {
      most: Number(/\b(?:to|and) (10|20|50|100|500|1000)\b/.exec(text)?.[1] ?? 100),
    }),
  rps: () => page('Rock, paper, scissors', 'How many can you win?'),
  life: () => page('Game of life', 'Cells live, die and are born.'),
  simon: () => page('Repeat the lights', 'Watch and repeat.'),
  wordguess: () => page('Guess the word', 'Five letters, six tries.'),
  quiz(text) {
    const { title, topics } = findQuiz(text)
    return page(title, 'Ten questions with four answers each, and 15 seconds per question.', {
      topics,
    })
  },
  tictactoe: (text) => page('Tic-tac-toe', 'Three in a row win.', { isTwo: isTwo(text) }),
  four: (text) => page('Four in a row', 'Drop discs and connect four.', { isTwo: isTwo(text) }),
  twenty48: () => page('2048', 'Join equal numbers.'),
  blocks: () => page('Falling blocks', 'Fill whole rows.'),
  mines: () => page('Minesweeper', 'Open every safe square.'),
  sudoku: () => page('Sudoku', 'Fill the grid.'),
  slide: () => page('Sliding puzzle', 'Order the tiles.'),
  breakout: () => page('Breakout', 'Break every wall with one ball.'),
  pong: () => page('Pong', 'Return every ball.'),
  racer: () => page('Race', 'Stay in front of the traffic.'),
  reaction: () => page('Reaction test', 'How fast are you?'),
  formula(text) {
    const [, formula, title] = formulas.find(([words]) => words.test(text)) ?? []
    return page(title ?? '', 'Change a value and see the result at once.', {
      formula: formula ?? 'tip',
    })
  },
  converter(text) {
    const [, kind, pair] = conversions.find(([words]) => words.test(text)) ?? []
    return page('Unit converter', '', { kind: kind ?? 'Length', units: pair ?? [] })
  },
  calculator: () => page('Calculator', ''),
  password: (text) =>
    page('Password generator', '', {
      length: findNumber(text, /characters?|letters?/, [6, 64], 18),
    }),
  dice(text) {
    const sides = /\bcoin/.test(text) ? 2 : Number(/\bd(4|6|8|10|12|20)\b/.exec(text)?.[1] ?? 6)
    const count = findNumber(text, /dice|d\d+/, [1, 6], /\btwo\b/.test(text) || sides === 6 ? 2 : 1)
    return page(sides === 2 ? 'Coin flip' : 'Dice', '', { sides, count: sides === 2 ? 1 : count })
  },
  oracle: createOracle,
  wheel: (text) => {
    const found = findItems(text)
    const items = found.length > 1 ? found : ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn']
    return page('Spin the wheel', '', { items })
  },
  pixel: (text) => {
    const side = findNumber(text, /x|by|×/, [8, 32], 16)
    return page('Pixel editor', '', { side })
  },
  draw: () => page('Drawing pad', ''),
  palette: () => page('Color palettes', ''),
  particles: (text) => page('Night sky', '', { scene: scene(text) }),
  kanban: () => page('Board', '', { columns: ['To do', 'Doing', 'Done'] }),
  budget: () => page('Budget', ''),
  greeting: createGreeting,
  breathe: () => page('Breathe', ''),
  stopwatch: () => page('Stopwatch', ''),
  timer(text) {
    const first = findNumber(text, /min/, [1, 180], 25)
    const minutes = [first, ...[5, 15, 25, 50].filter((one) => one !== first)]
    return page('Timer', 'One thing at a time, until the bell.', { minutes })
  },
  countdown(text) {
    const [, title, day] = days.find(([words]) => words.test(text)) ?? []
    return page(title ?? '', '', { day: day ?? [7, 1] })
  },
  clock: () => page('World clock', ''),
  textstats: () => page('Word counter', ''),
  scoreboard: (text) => {
    const items = findItems(text)
    return page('Scoreboard', '', { items: items.length > 1 ? items : ['Home', 'Guests'] })
  },
  tracker(text) {
    const [, unit = 'times', goal = 5, steps = [1, 2]] =
      units.find(([words]) => words.test(text)) ?? []
    const given = Number(/\b(\d{1,5})\b/.exec(text)?.[1] ?? goal)
    const lead = 'A little every day. The dashed line is your goal.'
    return page('Tracker', lead, { unit, goal: Math.max(1, given), steps: [...steps] })
  },
  notes() {
    const first = 'First note\nThe first line is the title. Edit this note or create a new one.'
    return page('Notes', 'Your notes are saved on this device.', { first })
  },
  checklist: (text) =>
    page('Checklist', 'Open and completed tasks, saved on this device.', {
      items: findItems(text),
    }),
}

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
function createGreeting(text: string): Content {
  const [, face, wish, message] =
    occasions.find(([words]) => words.test(text)) ?? occasions[6] ?? []
  const to = /\bfor (?:my )?([a-z][a-z'-]{1,20})\b/.exec(text)?.[1] ?? ''
  const name = to && to.charAt(0).toUpperCase() + to.slice(1)
  const headline = name ? `${wish}, ${name}!` : `${wish}!`
  return page(headline, '', { face: face ?? '', headline, message: message ?? '' })
}

const answers = {
  ball: 'Yes.|No.|Without a doubt.|Ask again later.|Very likely.|Better not.|It looks good.|I doubt it.|Certainly.|Not today.|Count on it.|Think it over.',
  excuse:
    'My cat|The neighbor|A seagull|My phone|The train|My alarm clock|The washing machine|A very small storm;hid|borrowed|flooded|misplaced|rebooted|mailed away|sat on;my keys.|the notes.|my only shoes.|the whole kitchen.|my calendar.|the front gate.|tomorrow’s lunch.',
  compliment:
    'You are|Everyone says you are|Today you are|As always, you are;a great listener.|braver than you think.|really good at this.|kind to everybody.|a joy to work with.|full of good ideas.|quick to learn.',
  dinner:
    'Spicy|Quick|Creamy|Crispy|Fresh|Oven-baked;vegetable|chickpea|mushroom|chicken|tofu|lentil|salmon;curry|pasta|tacos|soup|salad|noodles|pie|rice bowl',
  name: 'Silver|Little|Brave|Northern|Hidden|Golden|Quiet|Wild;Fox|River|Lantern|Harbor|Willow|Comet|Meadow|Anchor',
  idea: 'A story about|A drawing of|A game with|A song about;a lighthouse keeper|two clocks|a lost map|a tiny robot|the last train|a garden on the moon;who forgets a name.|in the rain.|and an unexpected guest.|before sunrise.|that nobody can see.',
  joke: 'What do you call a fish without an eye? A fsh.|Why did the scarecrow win a prize? It was outstanding in its field.|I would tell a joke about paper, but it is tearable.|Parallel lines have so much in common. A pity that they never meet.|Why do bees have sticky hair? They use honeycombs.|What is brown and sticky? A stick.|I used to be a banker, but I lost interest.|Why did the bicycle fall over? It was two tired.',
  quote:
    'Well begun is half done. (Aristotle)|The obstacle is the way. (Marcus Aurelius)|Fortune favors the bold. (Virgil)|He who has a why can bear almost any how. (Nietzsche)|No man ever steps in the same river twice. (Heraclitus)|Simplicity is the ultimate sophistication. (proverb)|A journey of a thousand miles begins with a single step. (Laozi)|The unexamined life is not worth living. (Socrates)',
  fortune:
    'A short walk|An old friend|A small risk|Patience|A new habit|A kind word;brings|opens|will show you|leads to;a good surprise.|the next step.|more than you expect.|the answer you look for.',
}

/** Creates the content of a generator of sentences: answers, excuses, names, ideas. */
function createOracle(text: string): Content {
  const from = (title: string, lead: string, action: string, list: string, first = '?'): Content =>
    page(title, lead, { action, first, lists: list.split(';') })
  if (/\bexcuse/.test(text))
    return from('Excuse generator', 'For every occasion.', 'Excuse me', answers.excuse)
  if (/\bcompliment/.test(text))
    return from('Compliments', 'You deserve one.', 'One more', answers.compliment)
  if (/\b(eat|cook|dinner)\b/.test(text))
    return from('What to eat', 'Hungry and undecided?', 'Decide', answers.dinner)
  if (/\bname generator\b/.test(text))
    return from('Name generator', 'Names for bands, boats and heroes.', 'New name', answers.name)
  if (/\b(idea|prompt|story)\b/.test(text))
    return from('Idea generator', 'Something to begin with.', 'New idea', answers.idea)
  if (/\bjokes?\b/.test(text)) return from('Jokes', 'Please laugh.', 'Another one', answers.joke)
  if (/\bquotes?\b/.test(text))
    return from('Quotes', 'Words to think about.', 'Another one', answers.quote)
  if (/\bfortune/.test(text))
    return from('Fortune teller', 'What does today hold?', 'Tell me', answers.fortune)
  return from(
    'Magic ball',
    'Think of a question that has yes or no as its answer.',
    'Ask',
    answers.ball,
    '8',
  )
}
