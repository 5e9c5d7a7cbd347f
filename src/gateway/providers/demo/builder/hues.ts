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
export const findHue = (text: string): number | undefined =>
  findNamedHue(text) ?? findFirst(text, 2)

function findFirst(text: string, words: 1 | 2): number | undefined {
  const low = text.toLowerCase()
  const found = hues.map((row) => ({ hue: row[0], at: low.search(row[words]) }))
  return found.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at)[0]?.hue
}
