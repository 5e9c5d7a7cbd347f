/** The store against a real disk: killed, full, and closed to writing. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sha256 } from '../kernel/ids.ts'
import { hour, systemClock } from '../kernel/time.ts'
import { boundByModes } from '../testing/fixtures/bound-by-modes.ts'
import { openDiskStore } from './disk.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-disk-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const open = (freeFloorBytes = 0) => openDiskStore(dir, { freeFloorBytes, clock: systemClock })

/** A program that opens the store in `dir` and runs `body` with it. */
const program = (body: string): string => `
  import { openDiskStore } from ${JSON.stringify(join(import.meta.dir, 'disk.ts'))}
  import { systemClock } from ${JSON.stringify(join(import.meta.dir, '../kernel/time.ts'))}
  const store = await openDiskStore(${JSON.stringify(dir)},
    { freeFloorBytes: 0, clock: systemClock })
  const tell = (error) => console.log(error.errorName ?? String(error))
  ${body}`

const run = (before: string[], body: string) =>
  Bun.spawn([...before, process.execPath, '-e', program(body)], {
    stdout: 'pipe',
    stderr: 'pipe',
    cwd: tmpdir(),
  })

async function outputOf(child: ReturnType<typeof run>): Promise<string> {
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return (out + err).trim()
}

/** Every file of the store is named by what it holds. */
function expectWhole(): void {
  for (const folder of readdirSync(dir).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of readdirSync(join(dir, folder))) {
      expect(sha256(readFileSync(join(dir, folder, name)))).toBe(name)
    }
  }
}

test('after kill -9 during puts, acknowledged content exists and partial files do not', async () => {
  // Large files of four writers out of step, so that most kills find one half written.
  const body = `
    const large = (writer, index) => {
      const bytes = new Uint8Array(3000000).fill(index)
      new DataView(bytes.buffer).setFloat64(0, ${systemClock.now()} + writer * 1000 + index)
      return bytes
    }
    await Promise.all([1, 2, 3, 4].map(async (writer) => {
      for (let index = 0; index < 500; index += 1) {
        console.log((await store.put(large(writer, index))).sha256)
      }
    }))`
  for (let round = 1; round <= 8; round += 1) {
    const child = run([], body)
    let output = ''
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += part
      if (output.split('\n').length > round) break
    }
    child.kill('SIGKILL')
    await child.exited
    const answered = output.split('\n').filter((line) => line.length === 64)
    expect(answered.length).toBeGreaterThanOrEqual(round)
    expectWhole()
    const store = await open()
    expect(readdirSync(join(dir, 'tmp'))).toEqual([])
    for (const name of answered) expect(await store.has(name)).toBe(true)
    for (const name of readdirSync(dir).filter((folder) => folder !== 'tmp')) {
      rmSync(join(dir, name), { recursive: true })
    }
  }
}, 60_000)

test('in a shared folder, unfinished files of killed servers are removed, not of others', async () => {
  await open()
  const now = systemClock.now()
  for (const [name, at] of Object.entries({ killed: now - hour, running: now })) {
    writeFileSync(join(dir, 'tmp', name), 'part')
    utimesSync(join(dir, 'tmp', name), at / 1_000, at / 1_000)
  }
  await openDiskStore(dir, { freeFloorBytes: 0, clock: systemClock }, true)
  expect(readdirSync(join(dir, 'tmp'))).toEqual(['running'])
  await open()
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('a file size limit throws try_again and leaves nothing', async () => {
  await open()
  const child = run(
    ['/bin/sh', '-c', 'ulimit -f 200; exec "$@"', 'sh'],
    `await store.put(new Uint8Array(4000000)).catch(tell)
    await store.put(new Uint8Array(4000)).then(() => console.log('small one kept'))`,
  )
  expect(await outputOf(child)).toBe('try_again\nsmall one kept')
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
  expect(await (await open()).usage()).toMatchObject({ files: 1, bytes: 4_000 })
}, 60_000)

test('a full disk throws try_again, loses nothing, and works again once there is space', async () => {
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', dir])
  if (!mounted.success) {
    console.log('skipped: a full disk (no tmpfs may be mounted here: run the tests as root)')
    return
  }
  try {
    // No floor at all: the disk itself has to say no.
    const store = await open(Number.NEGATIVE_INFINITY)
    const kept: string[] = []
    let rejected: unknown
    for (let index = 0; index < 20 && rejected === undefined; index += 1) {
      await store.put(new Uint8Array(700_000).fill(index)).then(
        (stored) => kept.push(stored.sha256),
        (error: unknown) => (rejected = error),
      )
    }
    expect(rejected).toMatchObject({ errorName: 'try_again' })
    expect(kept.length).toBeGreaterThan(0)
    expect(readdirSync(join(dir, 'tmp'))).toEqual([])
    expect(await store.usage()).toMatchObject({ files: kept.length })
    expectWhole()
    await store.remove(kept[0] ?? '')
    await store.put(new Uint8Array(700_000).fill(99))
  } finally {
    Bun.spawnSync(['umount', dir])
  }
})

test('a read-only folder throws try_again and still reads', async () => {
  const { sha256: name } = await (await open()).put(new Uint8Array(50).fill(1))
  const shut = [dir, join(dir, 'tmp'), ...readdirSync(dir).map((folder) => join(dir, folder))]
  for (const path of shut) chmodSync(path, 0o555)
  const body = `await store.put(new Uint8Array(60)).catch(tell)
    console.log((await store.read(${JSON.stringify(name)})).length)`
  const output = await outputOf(run(boundByModes, body))
  for (const path of shut) chmodSync(path, 0o755)
  expect(output).toBe('try_again\n50')
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
  expect(await (await open()).usage()).toMatchObject({ files: 1 })
}, 60_000)
