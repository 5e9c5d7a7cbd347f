/** The npm packages: one for each platform, and `berth`, which runs the binary of the right one. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { homepage, license, version } from '../../package.json'
import { programOf, type Target } from './targets.ts'

const root = join(import.meta.dir, '../..')

/** Packs a folder as npm does, with one time and one owner for all files. */
export async function pack(folder: string, file: string): Promise<void> {
  const tar = ['tar', '--create', '--sort=name', '--owner=0', '--group=0', '--numeric-owner']
  const { stdout, exitCode } = Bun.spawnSync(
    [...tar, '--mtime=@0', '--format=ustar', '--directory', folder, 'package'],
    { stderr: 'inherit' },
  )
  if (exitCode !== 0) throw new Error(`tar failed for ${file}.`)
  await Bun.write(file, Bun.gzipSync(Uint8Array.from(stdout), { level: 6 }))
}

/** Writes the tarballs of `npm publish`: berth-<version>.tgz and berth-<target>-<version>.tgz. */
export async function npmPackages(
  targets: Target[],
  pathOf: (target: Target) => string,
  out: string,
): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'berth-npm-'))
  const about = { version, license, homepage, description: 'Berth, hosting for AI agents' }
  for (const target of targets) {
    const { name, os, cpu, libc } = target
    const folder = join(work, name, 'package')
    mkdirSync(folder, { recursive: true })
    const manifest = {
      name: `@berth/${name}`,
      ...about,
      description: `The binary of Berth for ${name}`,
      os: [os],
      cpu: [cpu],
      ...(libc && { libc: [libc] }),
    }
    await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
    cpSync(pathOf(target), join(folder, programOf(target)))
    chmodSync(join(folder, programOf(target)), 0o755)
    await pack(join(work, name), join(out, `berth-${name}-${version}.tgz`))
  }
  const folder = join(work, 'berth', 'package')
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'packaging/npm'), folder, { recursive: true })
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const manifest = {
    name: 'berth',
    ...about,
    bin: { berth: 'berth.js' },
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(
      targets.map(({ name }) => [`@berth/${name}`, version]),
    ),
  }
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  chmodSync(join(folder, 'berth.js'), 0o755)
  await pack(join(work, 'berth'), join(out, `berth-${version}.tgz`))
  rmSync(work, { recursive: true })
}
