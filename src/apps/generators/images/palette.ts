import type { Random } from '../random.ts'

/** The colors of an image, as CSS colors. */
export interface Palette {
  main: string
  light: string
  dark: string
  accent: string
  ink: string
}

/** Words and their color: hue in degrees, saturation and lightness in percent. */
const named: [words: RegExp, hue: number, saturation: number, lightness: number][] = [
  [/\b(red|crimson|scarlet|ruby|cherry|strawberr\w*|tomato|rose|fire|lava|apple)\b/, 4, 78, 54],
  [/\b(orange|amber|rust|fox|copper|pumpkin|carrot)\b/, 26, 88, 56],
  [/\b(yellow|gold|golden|coin|sun|lemon|honey|banana|star)\b/, 45, 92, 56],
  [/\b(lime|slime|acid|frog|lizard)\b/, 95, 60, 48],
  [/\b(green|forest|leaf|tree|grass|emerald|cactus|dragon|snake)\b/, 140, 50, 42],
  [/\b(teal|turquoise|mint|sea)\b/, 172, 55, 42],
  [/\b(cyan|ice|icy|frost|diamond|water)\b/, 192, 72, 58],
  [/\b(blue|azure|sapphire|sky|ocean|whale)\b/, 214, 74, 54],
  [/\b(indigo|navy|night|midnight)\b/, 236, 48, 42],
  [/\b(purple|violet|amethyst|magic|wizard|poison|grape)\b/, 272, 56, 54],
  [/\b(pink|magenta|candy|heart|flamingo|pig)\b/, 334, 78, 64],
  [/\b(brown|wood|wooden|earth|chest|bear|dog|horse|leather)\b/, 28, 42, 42],
  [/\b(black|shadow|ninja|crow|bat|coal)\b/, 230, 14, 26],
  [/\b(white|snow|silver|ghost|cloud|bone|skeleton)\b/, 210, 26, 88],
  [/\b(grey|gray|stone|rock|steel|iron|metal|robot|asteroid)\b/, 212, 13, 58],
]

const hsl = (hue: number, saturation: number, lightness: number): string =>
  `hsl(${Math.round(hue + 720) % 360},${Math.round(saturation)}%,${Math.round(lightness)}%)`

/** Returns a palette of the colors that the description names, or of the seed's choice. */
export function paletteOf(words: string, random: Random): Palette {
  const chosen = named.find(([pattern]) => pattern.test(words))
  const free = [random.between(0, 360), random.between(55, 75), random.between(48, 58)] as const
  const [hue, saturation, lightness] = chosen ? [chosen[1], chosen[2], chosen[3]] : free
  const turned = hue + random.between(-7, 7)
  return {
    main: hsl(turned, saturation, lightness),
    light: hsl(turned + 6, saturation, Math.min(96, lightness + 20)),
    dark: hsl(turned - 10, saturation, Math.max(14, lightness - 20)),
    accent: hsl(turned + random.pick([150, 180, 205]), 76, 62),
    ink: hsl(turned - 16, Math.min(36, saturation), 14),
  }
}

/** Returns the words of a description, in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** Returns whether a description has one of these words. */
export function hasAnyWord(text: string, words: string): boolean {
  const candidates = wordsOf(text)
  return words.split(' ').some((word) => candidates.includes(word))
}
