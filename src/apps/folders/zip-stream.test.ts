import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { unzipSync } from 'fflate'

import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { planZip, unpackFiles } from './unzip.ts'
import { type StreamedFile, streamZip } from './zip-stream.ts'

setDefaultTimeout(60_000)
const folder = temporaryFolder('berth-zip-')
afterAll(() => folder.remove())

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
async function* listed(files: StreamedFile[]): AsyncGenerator<StreamedFile> {
  yield* files
}
const zipOf = async (files: StreamedFile[]): Promise<Uint8Array> =>
  Buffer.concat(await Array.fromAsync(streamZip(listed(files))))

const bounds = { bytesMax: 1_000_000, filesMax: 100_000 }

/** Runs a Python program that reads the zip at its argument. */
function python(zip: Uint8Array, program: string): string {
  const path = join(folder.path, 'a.zip')
  writeFileSync(path, zip)
  return `${Bun.spawnSync(['python3', '-c', program, path]).stdout}`.trim()
}

test('a zip in pieces has the files as they were, and other programs read it', async () => {
  const zip = await zipOf([
    { path: 'ä/é.txt', content: [bytesOf('one '), bytesOf(''), bytesOf('two')] },
    { path: 'empty', content: [] },
  ])
  const files = unzipSync(zip)
  expect(Object.keys(files)).toEqual(['ä/é.txt', 'empty'])
  expect(new TextDecoder().decode(files['ä/é.txt'])).toBe('one two')
  const plan = planZip(zip, bounds)
  if (!('packed' in plan)) throw new Error('the zip was refused')
  expect(await unpackFiles(plan.packed)).toMatchObject({
    files: [{ path: 'ä/é.txt', bytes: bytesOf('one two') }, { path: 'empty' }],
  })
  const test = 'import sys, zipfile\nprint(zipfile.ZipFile(sys.argv[1]).testzip())'
  expect(python(zip, test)).toBe('None')
})

test('more than 65,535 files are all there', async () => {
  const count = 70_000
  const all = Array.from({ length: count }, (_, at) => {
    return { path: `a/${at}`, content: [bytesOf(`${at}`)] }
  })
  const zip = await zipOf(all)
  const plan = planZip(zip, bounds)
  expect('packed' in plan && plan.packed.length).toBe(count)
  const read = 'import sys, zipfile\nprint(zipfile.ZipFile(sys.argv[1]).read("a/69999"))'
  expect(python(zip, read)).toBe("b'69999'")
})

test('an empty zip is one', async () => {
  expect(planZip(await zipOf([]), bounds)).toEqual({ packed: [] })
})
