/**
 * `bun scripts/bench/size.ts [binary]`: prints what dist/berth, or another binary, adds to Bun, as
 * the table of docs/releases.md. It reads the list of files at the end of the binary.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const path = Bun.argv[2] ?? join(import.meta.dir, '../../dist/berth')
const trailer = '\n---- Bun! ----\n'
/** The end of the list: its size, then the place and the size of its rows. */
const endBytes = 32
/** A row: six pairs of place and size (name, content, source map, bytecode, ...) and four flags. */
const rowBytes = 52

interface EmbeddedFile {
  name: string
  bytes: number
  bytecode: number
}

/** Returns the embedded files and the bytes of all. Throws an Error for a file without a list. */
function read(binary: Buffer): { files: EmbeddedFile[]; total: number } {
  const end = binary.lastIndexOf(trailer) - endBytes
  if (end < 0) throw new Error(`${path} is no program that Bun compiled. Run ./scripts/build.`)
  const total = Number(binary.readBigUInt64LE(end))
  const list = binary.subarray(end - total, end)
  const rows = list
    .subarray(binary.readUInt32LE(end + 8))
    .subarray(0, binary.readUInt32LE(end + 12))
  const files = Array.from({ length: rows.length / rowBytes }, (_, at): EmbeddedFile => {
    const number = (index: number): number => rows.readUInt32LE(at * rowBytes + index * 4)
    const name = list.toString('utf8', number(0), number(0) + number(1))
    return { name: name.replace('/$bunfs/root/', ''), bytes: number(3), bytecode: number(7) }
  })
  return { files, total }
}

const parts: [name: string, isPart: (file: EmbeddedFile) => boolean][] = [
  ['JavaScript', ({ bytecode }) => bytecode > 0],
  ['speech: Flite with its voices', ({ name }) => name.includes('flite')],
  ['libraries for pages', ({ name }) => name.startsWith('libraries/')],
  ['public files, as br', ({ name }) => name.startsWith('public/dist/')],
  ['samples', ({ name }) => name.startsWith('public/samples/')],
  ['late code', ({ name }) => name.startsWith('late-code')],
  [
    'packages that no start needs, images, PDF, Ogg and licenses',
    ({ name }) => name.startsWith('packages/'),
  ],
  ['migrations, templates and other texts', () => true],
]

const { files, total } = read(readFileSync(path))
const sums = new Map<string, number>()
for (const file of files) {
  const [name = ''] = parts.find(([, isPart]) => isPart(file)) ?? []
  sums.set(name, (sums.get(name) ?? 0) + file.bytes)
}
sums.set(
  'bytecode of Berth',
  files.reduce((sum, { bytecode }) => sum + bytecode, 0),
)
const known = [...sums.values()].reduce((sum, bytes) => sum + bytes, 0)
sums.set("bytecode of Bun's own modules, names", total - known)
console.log('| Part | MB |\n|---|---|')
for (const [name, bytes] of [...sums].toSorted(([, one], [, other]) => other - one)) {
  console.log(`| ${name} | ${(bytes / 1e6).toFixed(1)} |`)
}
console.log(`| all | ${(total / 1e6).toFixed(1)} |`)
