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
export function findQuiz(text: string): { title: string; topics: Topic[] } {
  const [, title = '', chosen = []] = topics.find(([words]) => words.test(text)) ?? []
  return { title, topics: chosen }
}
