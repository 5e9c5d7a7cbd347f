/**
 * `bun scripts/screenshots/shrink.ts [from [to]]`: writes the screenshots of a folder, by default
 * dist/screenshots, as small WebP images for the docs, and a page that shows them all. Prints their
 * total in KB.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { looks } from './take.ts'

const root = join(import.meta.dir, '../..')
const from = Bun.argv[2] ?? join(root, 'dist/screenshots')
const to = Bun.argv[3] ?? join(root, 'docs/images/pages')
/** Enough to see a page as a whole, and to read its titles. */
const widths = { desktop: 400, phone: 180 }
const quality = 40

const files = readdirSync(from).toSorted()
mkdirSync(to, { recursive: true })
for (const file of readdirSync(to)) {
  if (file.endsWith('.webp') || file === 'README.md') rmSync(join(to, file))
}
/** The looks of each page, in the order of `looks`. */
const pages = new Map<string, string[]>()
let total = 0
for (const file of files) {
  const [, page = '', look = ''] = /^(.+)-((?:phone|desktop)-[a-z]+)\.png$/.exec(file) ?? []
  if (!(look in looks)) continue
  const png = await Bun.file(join(from, file)).bytes()
  const { width, height } = await new Bun.Image(png).metadata()
  const shown = look.startsWith('phone') ? widths.phone : widths.desktop
  const scaled = new Bun.Image(png).resize(shown, Math.round((height * shown) / width))
  const webp = await scaled.webp({ quality }).bytes()
  await Bun.write(join(to, `${page}-${look}.webp`), webp)
  pages.set(page, [...(pages.get(page) ?? []), look])
  total += webp.length
}

const shownLooks = Object.keys(looks)
const sections = [...pages].map(([page, taken]) => {
  const images = shownLooks
    .filter((look) => taken.includes(look))
    .map((look) => `![${page}, ${look.replace('-', ', ')}](${page}-${look}.webp)`)
  return `## ${page}\n\n${images.join(' ')}\n`
})
const head = `# Screenshots

Written by \`bun scripts/screenshots.ts\` and \`bun scripts/screenshots/shrink.ts\`, with sample data.
Each page on a phone and a desktop, light and dark. Pages that no press leads to are also in Arabic and German.
`
await Bun.write(join(to, 'README.md'), [head, ...sections].join('\n'))
console.log(`${to}: ${pages.size} pages, ${Math.round(total / 1_024)} KB`)
