/**
 * Draws the sprites and pictures and plays the sounds of our own sample apps into their folders:
 * `bun scripts/samples.ts`. Seeded throughout: running it again changes nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { dropSprites } from './samples/lampkeeper-drops.ts'
import { keeperSounds } from './samples/lampkeeper-sounds.ts'
import { keeperSprites } from './samples/lampkeeper-sprites.ts'
import { wraithSprites } from './samples/lampkeeper-wraiths.ts'
import { samplePictures } from './samples/pictures.ts'
import { tideSounds } from './samples/tide-sounds.ts'

const files: Record<string, Record<string, Buffer>> = {
  lampkeeper: { ...keeperSprites(), ...dropSprites(), ...wraithSprites(), ...keeperSounds() },
  'slack-tide': tideSounds(),
  pigment: samplePictures(),
}

for (const [app, made] of Object.entries(files)) {
  const folder = join(import.meta.dir, '../public/samples', app, 'assets')
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of Object.entries(made)) {
    writeFileSync(join(folder, name), bytes)
    console.log(`${app}/${name} ${bytes.length}`)
  }
}
