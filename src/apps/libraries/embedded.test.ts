import { expect, test } from 'bun:test'

import { brotli } from '../../../scripts/brotli.ts'
import { buildArchive, openArchive } from './embedded.ts'
import type { Library } from './library.ts'

/** A library whose files repeat each other from one version to the next. */
function libraryOf(name: string, version: string, contents: Record<string, string>): Library {
  const encoder = new TextEncoder()
  const bytes = new Map(
    Object.entries(contents).map(([path, text]) => [path, encoder.encode(text)]),
  )
  return {
    name,
    version,
    license: 'MIT',
    source: 'embedded',
    files: new Map([...bytes].map(([path, { length }]) => [path, length])),
    read: async (path) => bytes.get(path) ?? new Uint8Array(),
  }
}

const noise = Array.from({ length: 2_000 }, (_, at) => Bun.hash(String(at)).toString(36)).join('')

test('every file of every version comes out of the archive as it went in', async () => {
  const libraries = [
    libraryOf('boat', '1.0.0', { 'boat.js': `${noise}1`, 'boat.css': 'a{}' }),
    libraryOf('sail', '3.1.0', { 'sail.js': 'sail', 'empty.js': '' }),
    libraryOf('boat', '2.0.0', { 'boat.js': `${noise}2` }),
  ]
  const { index, body } = await buildArchive(libraries, brotli)
  const opened = openArchive(index, new Blob([Buffer.from(body)]))

  for (const library of libraries) {
    const found = opened.find(
      ({ name, version }) => name === library.name && version === library.version,
    )
    expect(found?.files).toEqual(library.files)
    for (const path of library.files.keys()) {
      expect(await found?.read(path)).toEqual(await library.read(path))
    }
  }
  await expect(opened[0]?.read('../boat.js')).rejects.toThrow('boat@1.0.0 has no ../boat.js')
})

test('two versions of a package share what they have in common', async () => {
  const one = libraryOf('boat', '1.0.0', { 'boat.js': `${noise}1` })
  const two = libraryOf('boat', '2.0.0', { 'boat.js': `${noise}2` })

  const alone = (await buildArchive([one], brotli)).body.byteLength
  const both = (await buildArchive([one, two], brotli)).body.byteLength
  expect(both).toBeLessThan(alone * 1.1)
})
