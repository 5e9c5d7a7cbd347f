import type { TemplateName } from './catalog.ts'

/** A kind of question: `ask` with {} for the subject, and pairs of subject and answer. */
export interface Topic {
  ask: string
  pairs: string[][]
}

const pairsOf = (text: string): string[][] =>
  text
    .trim()
    .split(/;\s+/)
    .map((pair) => pair.split(' = '))

const capitals: Topic = {
  ask: 'What is the capital of {}?',
  pairs: pairsOf(`
    France = Paris; Japan = Tokyo; Canada = Ottawa; Australia = Canberra; Brazil = Brasília;
    Egypt = Cairo; Kenya = Nairobi; Norway = Oslo; Portugal = Lisbon; Peru = Lima;
    Thailand = Bangkok; New Zealand = Wellington; Greece = Athens; Morocco = Rabat;
    Vietnam = Hanoi; Hungary = Budapest
  `),
}

const space: Topic = {
  ask: 'Which planet {}?',
  pairs: pairsOf(`
    is nearest to the Sun = Mercury; is the hottest = Venus; has oceans of liquid water = Earth;
    has the highest volcano = Mars; is the largest = Jupiter; has the Great Red Spot = Jupiter;
    has the widest bright rings = Saturn; has the moon Titan = Saturn;
    rolls around the Sun on its side = Uranus; is farthest from the Sun = Neptune;
    has the moon Triton = Neptune; has the moons Phobos and Deimos = Mars
  `),
}

const animals: Topic = {
  ask: 'What is the young of a {} called?',
  pairs: pairsOf(`
    kangaroo = joey; swan = cygnet; goat = kid; horse = foal; bear = cub; goose = gosling;
    frog = tadpole; butterfly = caterpillar; sheep = lamb; eel = elver; hare = leveret;
    deer = fawn
  `),
}

const elements: Topic = {
  ask: 'Which element has the symbol {}?',
  pairs: pairsOf(`
    Au = gold; Ag = silver; Fe = iron; Na = sodium; K = potassium; Pb = lead; Cu = copper;
    Sn = tin; Hg = mercury; He = helium; W = tungsten; Ca = calcium
  `),
}

const sums: Topic = {
  ask: 'What is {}?',
  pairs: [3, 4, 6, 7, 8, 9].flatMap((one) =>
    [6, 7, 8, 12].map((other) => [`${one} × ${other}`, `${one * other}`]),
  ),
}

const topics: [words: RegExp, title: string, topics: Topic[]][] = [
  [/\b(capitals?|countr\w+|cit(?:y|ies)|geograph\w+|world|flags?)\b/, 'Capitals', [capitals]],
  [/\b(space|planets?|stars?|astronom\w+|solar)\b/, 'Planets', [space]],
  [/\b(animals?|pets?|zoo|nature|wild\w*)\b/, 'Young animals', [animals]],
  [/\b(chemi\w+|elements?|science|periodic)\b/, 'Elements', [elements]],
  [/\b(math\w*|numbers?|sums?|times|arithmetic|multipl\w+)\b/, 'Times tables', [sums]],
  [/(?:)/, 'A bit of everything', [capitals, space, animals, elements]],
]

/** Returns the topics that match a prompt, with a title. */
function findQuiz(text: string): { title: string; topics: Topic[] } {
  const [, title = '', chosen = []] = topics.find(([words]) => words.test(text)) ?? []
  return { title, topics: chosen }
}

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
