import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Journal } from './journal.ts'

const bytes = 64 * 1_024
let dir = ''
let path = ''
const opened: Journal[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-journal-'))
  path = join(dir, 'journal')
})
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Opens the journal as the next process does. */
async function open(secret = 'secret'): Promise<Journal> {
  const journal = await Journal.open(path, secret, bytes)
  opened.push(journal)
  return journal
}
const textsOf = ({ found }: Journal) => found.map(({ text }) => text)

test('a record is there after a crash, until it is removed', async () => {
  const journal = await open()
  const [one, , three] = await Promise.all(
    ['one', 'zwei 👋'.repeat(400), 'three'].map((text) => journal.append(text)),
  )
  const next = await open()
  expect(textsOf(next)).toEqual(['one', 'zwei 👋'.repeat(400), 'three'])
  if (!one || !three) throw new Error('no room')
  await journal.remove(one)
  await journal.remove(three)
  await journal.append('four')
  expect(textsOf(await open())).toEqual(['four', 'zwei 👋'.repeat(400)])
  expect(readFileSync(path).length).toBe(bytes)
})

test('a record without space is not written, and removal makes space', async () => {
  const journal = await open()
  const large = 'x'.repeat(40_000)
  const first = await journal.append(large)
  expect(await journal.append(large)).toBeUndefined()
  expect(await journal.append('small')).toBeDefined()
  if (!first) throw new Error('no room')
  await journal.remove(first)
  expect(await journal.append(large)).toBeDefined()
})

test('torn, forged and foreign records are not read', async () => {
  const journal = await open()
  await journal.append('torn'.repeat(1_000))
  await journal.append('whole')
  const content = readFileSync(path)
  content[3_000] = 0
  // A record at another place, as the content of a larger one would be.
  content.copy(content, 20 * 1_024, 4 * 1_024, 5 * 1_024)
  writeFileSync(path, content)
  expect(textsOf(await open())).toEqual(['whole'])
  expect(textsOf(await open('another secret'))).toEqual([])
})

test('a disk without space for all of the journal leaves a smaller one', async () => {
  const program = `
    import { Journal } from ${JSON.stringify(join(import.meta.dir, 'journal.ts'))}
    const journal = await Journal.open(${JSON.stringify(path)}, 'secret', 10_000_000)
    console.log((await journal.append('x')) !== undefined)
    console.log((await journal.append('x'.repeat(300_000))) !== undefined)
    await journal.close()`
  const under = ['/bin/sh', '-c', 'ulimit -f 200; exec "$@"', 'sh']
  const child = Bun.spawn([...under, process.execPath, '-e', program], {
    stdout: 'pipe',
    cwd: tmpdir(),
  })
  expect(await child.stdout.text()).toBe('true\nfalse\n')
  expect(textsOf(await open())).toEqual(['x'])
})
