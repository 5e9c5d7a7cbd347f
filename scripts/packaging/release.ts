/**
 * Builds a release. dist/release has the layout of the download address: the file of the channel
 * names the version, and the folder of the version has everything else.
 */
import { createHash, createPrivateKey, sign } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { zipSync } from 'fflate'

import { releases, version } from '../../package.json'
import guide from '../../src/site/guide/install.md' with { type: 'text' }
import { debianPackage } from './debian.ts'
import { manPage } from './man.ts'
import { npmPackages } from './npm.ts'
import { packPython, packTypescript } from './sdks.ts'
import { programOf, type Target, targets } from './targets.ts'
import { filled } from './template.ts'
import { bomOf, licensesOf, thirdParties } from './third-party.ts'

const root = join(import.meta.dir, '../..')
const release = join(root, 'dist/release')
const out = join(release, version)

const { values } = parseArgs({
  options: {
    targets: { type: 'string' },
    channel: { type: 'string', default: 'stable' },
    key: { type: 'string' },
  },
})

/** Returns the targets of --targets, or all. Throws an Error that lists them for an unknown one. */
function chosenTargets(): Target[] {
  const names = values.targets?.split(',') ?? targets.map(({ name }) => name)
  return names.map((name) => {
    const target = targets.find((one) => one.name === name)
    if (target) return target
    throw new Error(`No target ${name}. Targets: ${targets.map((one) => one.name).join(', ')}.`)
  })
}

const pathOf = (target: Target): string =>
  join(root, 'dist', `berth-${target.name}${target.os === 'win32' ? '.exe' : ''}`)

function build(target: Target): void {
  const command = ['./scripts/build', `--target=bun-${target.name}`]
  const { exitCode } = Bun.spawnSync(command, { cwd: root, stdout: 'inherit', stderr: 'inherit' })
  if (exitCode !== 0) throw new Error(`The build for ${target.name} failed.`)
}

/** The time in zip files, which cannot be left out. */
const zipTime = new Date('2026-01-01T00:00:00')

/** Writes a binary as a download: zip for Windows, and gzip, without a name or time, elsewhere. */
async function compress(target: Target): Promise<void> {
  const bytes = await Bun.file(pathOf(target)).bytes()
  const name = join(out, `berth-${version}-${target.name}`)
  if (target.os === 'win32') {
    await Bun.write(`${name}.zip`, zipSync({ [programOf(target)]: bytes }, { mtime: zipTime }))
  } else {
    await Bun.write(`${name}.gz`, Bun.gzipSync(bytes, { level: 6 }))
  }
}

/** Returns the entry of this version in CHANGELOG.md, or what is unreleased. */
function notes(): string {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const entries = changelog.split(/^(?=## )/m)
  const entry =
    entries.find((one) => one.startsWith(`## ${version}`) || one.startsWith(`## [${version}]`)) ??
    entries.find((one) => one.startsWith('## Unreleased'))
  if (entry === undefined) throw new Error(`CHANGELOG.md has no entry for ${version}.`)
  return `# Berth ${version}\n${entry.slice(entry.indexOf('\n'))}`
}

const sha256 = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(join(out, name)))
    .digest('hex')

/** Writes the Homebrew formula, where this release has all its targets. */
async function writeFormula(): Promise<void> {
  const names = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
  const files = readdirSync(out)
  if (!names.every((name) => files.includes(`berth-${version}-${name}.gz`))) return
  const sums = names.map((name) => [`SHA256_${name}`, sha256(`berth-${version}-${name}.gz`)])
  await Bun.write(join(out, 'berth.rb'), filled('homebrew/berth.rb', Object.fromEntries(sums)))
}

/** Writes SHA256SUMS of all files, and its Ed25519 signature where a key is given. */
async function writeSums(keyPath: string | undefined): Promise<void> {
  const lines = readdirSync(out)
    .toSorted()
    .map((name) => `${sha256(name)}  ${name}\n`)
  const sums = Buffer.from(lines.join(''))
  await Bun.write(join(out, 'SHA256SUMS'), sums)
  if (keyPath === undefined) return
  const key = createPrivateKey(readFileSync(keyPath))
  await Bun.write(join(out, 'SHA256SUMS.sig'), `${sign(null, sums, key).toString('base64')}\n`)
}

const chosen = chosenTargets()
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const packages = thirdParties()
await Bun.write(join(out, 'LICENSES.txt'), licensesOf(packages))
await Bun.write(join(out, 'berth.cdx.json'), bomOf(version, packages))
await Bun.write(join(out, 'berth.1'), manPage())
await Bun.write(join(out, 'NOTES.md'), notes())
for (const target of chosen) {
  build(target)
  await compress(target)
  if (target.debian) debianPackage(target.debian, pathOf(target), out)
}
await npmPackages(
  chosen.filter(({ isBaseline }) => !isBaseline),
  pathOf,
  out,
)
await packTypescript(out)
await packPython(out)
await writeFormula()
await writeSums(values.key)
await Bun.write(join(release, 'install.sh'), filled('install.sh'))
chmodSync(join(release, 'install.sh'), 0o755)
await Bun.write(join(release, 'install.md'), guide.replaceAll('{{releases}}', releases.url))
await Bun.write(join(release, values.channel), `${version}\n`)
for (const name of readdirSync(out)) {
  console.log(`${(Bun.file(join(out, name)).size / 1e6).toFixed(1).padStart(7)} MB  ${name}`)
}
