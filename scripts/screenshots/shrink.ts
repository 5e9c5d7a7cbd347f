/**
 * `bun scripts/screenshots/shrink.ts [from [to]]`: writes the screenshots of a folder, by default
 * dist/screenshots, as small WebP images for the docs, and prints their total in KB.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dir, '../..')
const from = Bun.argv[2] ?? join(root, 'dist/screenshots')
const to = Bun.argv[3] ?? join(root, 'docs/images/pages')
/** Enough to see a page as a whole, and to read its titles. */
const widths = { desktop: 480, phone: 220 }
const quality = 45

mkdirSync(to, { recursive: true })
let total = 0
for (const name of readdirSync(from).filter((file) => file.endsWith('.png'))) {
  const png = await Bun.file(join(from, name)).bytes()
  const { width, height } = await new Bun.Image(png).metadata()
  const shown = name.includes('-phone-') ? widths.phone : widths.desktop
  const scaled = new Bun.Image(png).resize(shown, Math.round((height * shown) / width))
  const webp = await scaled.webp({ quality }).bytes()
  await Bun.write(join(to, `${basename(name, '.png')}.webp`), webp)
  total += webp.length
}
console.log(`${to}: ${Math.round(total / 1_024)} KB`)
