/**
 * `bun scripts/folder-builds.ts [name ...]`: builds the folders of `src/testing/folders/builds`
 * with the tools that people use, each in a temporary folder with pinned packages from npm, and
 * packs them as zips. The pages post what they found, which `src/testing/folders/builds.ts` has.
 * Some need emcc, wget, Cargo or Python on this machine. Those too large for the repository are in
 * dist/folder-builds, and tested where they are there.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { zipSync } from 'fflate'

import { bundlers } from './folder-builds/bundlers.ts'
import { documents } from './folder-builds/documents.ts'
import { engines } from './folder-builds/engines.ts'
import { exported } from './folder-builds/exports.ts'
import { games } from './folder-builds/games.ts'
import { generators } from './folder-builds/generators.ts'
import { programs } from './folder-builds/programs.ts'
import { sites } from './folder-builds/sites.ts'

const target = join(import.meta.dir, '../src/testing/folders/builds')
const largeTarget = join(import.meta.dir, '../dist/folder-builds')

const manifest = '{"name":"x","private":true,"type":"module","version":"1.0.0"}'
const builds = {
  ...bundlers,
  ...games,
  ...programs,
  ...engines,
  ...exported,
  ...documents,
  ...sites,
  ...generators,
}

async function run(command: string[], cwd: string): Promise<void> {
  const env = {
    ...process.env,
    CI: '1',
    ASTRO_TELEMETRY_DISABLED: '1',
    PATH: `${join(cwd, 'node_modules/.bin')}:${process.env.PATH}`,
  }
  const child = Bun.spawn(command, { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${out}${err}`)
}

/** Packs a folder, the same for the same files. */
async function pack(folder: string): Promise<Uint8Array> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const files: Record<string, Uint8Array> = {}
  for (const { parentPath, name } of names) {
    const path = join(parentPath, name)
    files[path.slice(folder.length + 1)] = new Uint8Array(await readFile(path))
  }
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
  return zipSync(sorted, { level: 9, mtime: new Date(1980, 0, 1) })
}

const selected = Bun.argv.slice(2)
for (const [name, { packages, files, command, out, isLarge }] of Object.entries(builds)) {
  if (selected.length > 0 && !selected.includes(name)) continue
  const folder = await mkdtemp(join(tmpdir(), `folder-${name}-`))
  try {
    await Bun.write(join(folder, 'package.json'), manifest)
    for (const [path, content] of Object.entries(files))
      await Bun.write(join(folder, path), content)
    await run(
      ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
      folder,
    )
    await run(['sh', '-c', command], folder)
    const made = join(folder, out)
    const zip = out.endsWith('.zip') ? await Bun.file(made).bytes() : await pack(made)
    await Bun.write(join(isLarge ? largeTarget : target, `${name}.zip`), zip)
    console.log(name, zip.byteLength)
  } catch (error) {
    console.log(name, String(error).slice(-1500))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
