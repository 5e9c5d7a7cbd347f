import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { lockFolder } from './folder-lock.ts'
import { createStagingFolder, finishRestores, swapIn } from './restore-swap.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-exchange-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const parts = ['berth.sqlite', 'link-secret', 'files/ab/one']
const kept = ['berth.toml', 'owner.lock']

function fill(folder: string, names: string[], text: string): void {
  for (const name of names) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

const textsIn = (folder: string, names: string[]): (string | undefined)[] =>
  names.map((name) => {
    const path = join(folder, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  })

const all = (names: string[], text: string): string[] => names.map(() => text)

test.skipIf(process.getuid?.() !== 0)(
  'files that root creates belong to the owner of the folder',
  () => {
    fill(dir, parts, 'old')
    chownSync(dir, 65_534, 65_534)
    lockFolder(dir)()
    fill(createStagingFolder(dir, 'now'), parts, 'new')
    const aside = swapIn(dir, 'now') ?? ''
    const given = [aside, ...['owner.lock', 'files', ...parts].map((name) => join(dir, name))]
    expect(given.filter((path) => statSync(path).uid !== 65_534)).toEqual([])
  },
)

test('replaces the data, keeps the previous data beside it, and leaves the settings', () => {
  const gone = ['berth.sqlite-wal', 'first-app', 'models.json']
  fill(dir, [...parts, ...kept, ...gone], 'old')
  fill(createStagingFolder(dir, 'now'), parts, 'new')
  const aside = swapIn(dir, 'now') ?? ''
  expect(textsIn(dir, parts)).toEqual(all(parts, 'new'))
  expect(textsIn(dir, kept)).toEqual(all(kept, 'old'))
  expect(textsIn(dir, gone)).toEqual([undefined, undefined, undefined])
  const old = [...parts, ...gone]
  expect(textsIn(aside, old)).toEqual(all(old, 'old'))
  expect(readdirSync(dir).sort()).toEqual(
    [
      'before-restore-now',
      'berth.sqlite',
      'berth.toml',
      'files',
      'link-secret',
      'owner.lock',
    ].sort(),
  )
})

test('keeps no previous folder when there was no data', () => {
  fill(createStagingFolder(dir, 'now'), parts, 'new')
  expect(swapIn(dir, 'now')).toBeUndefined()
  expect(readdirSync(dir).sort()).toEqual(['berth.sqlite', 'files', 'link-secret'])
})

test('the next start removes an uncommitted restore without replacing anything', () => {
  fill(dir, parts, 'old')
  fill(createStagingFolder(dir, 'now'), parts, 'new')
  finishRestores(dir)
  expect(textsIn(dir, parts)).toEqual(all(parts, 'old'))
  expect(readdirSync(dir).sort()).toEqual(['berth.sqlite', 'files', 'link-secret'])
})

/** The renames of an exchange, in order; a crash may come after any of them. */
const steps: [from: string, to: string][] = [
  ['restoring-now', 'restored-now'],
  ['berth.sqlite', 'replaced-now/berth.sqlite'],
  ['files', 'replaced-now/files'],
  ['link-secret', 'replaced-now/link-secret'],
  ['replaced-now', 'before-restore-now'],
  ['restored-now/files', 'files'],
  ['restored-now/berth.sqlite', 'berth.sqlite'],
  ['restored-now/link-secret', 'link-secret'],
]

test('the next start finishes a committed restore after a crash at any step', () => {
  for (let done = 1; done <= steps.length; done += 1) {
    const folder = join(dir, String(done))
    fill(folder, parts, 'old')
    fill(createStagingFolder(folder, 'now'), parts, 'new')
    mkdirSync(join(folder, 'replaced-now'))
    for (const [from, to] of steps.slice(0, done)) {
      renameSync(join(folder, from), join(folder, to))
    }
    const crashed = join(dir, 'crashed')
    cpSync(folder, crashed, { recursive: true })
    finishRestores(crashed)
    finishRestores(crashed)
    expect(textsIn(crashed, parts)).toEqual(all(parts, 'new'))
    expect(textsIn(join(crashed, 'before-restore-now'), parts)).toEqual(all(parts, 'old'))
    expect(readdirSync(crashed)).toHaveLength(4)
    rmSync(crashed, { recursive: true })
  }
})
