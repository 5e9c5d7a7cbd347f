import { lookUp } from '../../core/schema.ts'
import type { Random } from '../random.ts'
import type { Palette } from './palette.ts'
import { tiles } from './scenes.json'
import { hasAnyWord } from './words.ts'

/** Draws a seamless 100 x 100 tile, if the description names a texture. */
export function tile(text: string, palette: Palette, random: Random): string | undefined {
  if (!hasAnyWord(text, 'tile tiles texture pattern seamless')) return undefined
  const found = tiles.find(({ words }) => hasAnyWord(text, words))
  const ground = `<rect width="100" height="100" fill="${palette.main}"/>`
  return ground + (lookUp(textures, found?.shape ?? 'specks') ?? specks)(palette, random)
}

type Texture = (palette: Palette, random: Random) => string

const bricks: Texture = ({ light, dark }) =>
  Array.from({ length: 4 }, (_, row) => {
    const y = row * 25
    const seams = (row % 2 ? [25, 75] : [0, 50]).map(
      (x) => `<rect x="${x - 1.5}" y="${y}" width="3" height="25" fill="${dark}"/>`,
    )
    const top = `<rect y="${y}" width="100" height="3" fill="${dark}"/>`
    return `${top}<rect y="${y + 3}" width="100" height="2" fill="${light}"/>${seams.join('')}`
  }).join('')

const planks: Texture = ({ light, dark }, random) =>
  Array.from({ length: 4 }, (_, row) => {
    const y = row * 25
    const seam = `<rect x="${random.whole(10, 90)}" y="${y}" width="2" height="25" fill="${dark}"/>`
    const grain = `<rect y="${y + random.whole(8, 18)}" width="100" height="1" fill="${light}"/>`
    return `<rect y="${y}" width="100" height="2" fill="${dark}"/>${seam}${grain}`
  }).join('')

const waves: Texture = ({ light }) =>
  [12, 37, 62, 87]
    .map((y, row) => {
      const d = `M${row % 2 ? -25 : -12} ${y}q12.5-10 25 0t25 0 25 0 25 0 25 0 25 0`
      return `<path d="${d}" fill="none" stroke="${light}" stroke-width="3"/>`
    })
    .join('')

const specks: Texture = ({ light, dark }, random) =>
  Array.from({ length: 60 }, () => {
    const at = `x="${random.whole(1, 94)}" y="${random.whole(1, 94)}"`
    const [wide, high] = [random.whole(2, 5), random.whole(2, 5)]
    return `<rect ${at} width="${wide}" height="${high}" rx="1" fill="${random.pick([light, dark])}" fill-opacity="0.5"/>`
  }).join('')

const textures: Record<string, Texture> = { bricks, planks, waves, specks }
