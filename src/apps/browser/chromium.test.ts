import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

import { runFor } from '../../kernel/client.ts'
import { newId, sha256 } from '../../kernel/ids.ts'
import { readPublic } from '../../kernel/public-files.ts'
import { systemClock } from '../../kernel/time.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { until } from '../../testing/until.ts'
import { previewPages } from '../viewer/preview-page.ts'
import { PreviewBrowser } from './preview-browser.ts'

setDefaultTimeout(120_000)
/** The time of a page on a busy machine, where the one of production may end first. */
const busyMs = 110_000
const installed = findBrowser('chromium') ?? ''
const show = previewPages(readPublic(), systemClock, async () => undefined)
const signal = AbortSignal.timeout(3_600_000)
const warnings: unknown[] = []
const note = (name: string, facts?: object): void => void warnings.push({ name, ...facts })
const log = { info: note, warn: note, error: note }

let folder: string
let dataDir: string
let browser: PreviewBrowser

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-warm-'))
  dataDir = `/berth/${newId()}`
  warnings.length = 0
})
afterEach(async () => {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens a browser that writes the process id of each start to a file. */
function open(
  limits: ConstructorParameters<typeof PreviewBrowser>[3] = {},
  body = installed,
): void {
  const path = join(folder, 'browser')
  writeFileSync(path, `#!/bin/sh\necho $$ >> ${folder}/starts\nexec ${body} "$@"\n`, {
    mode: 0o755,
  })
  browser = new PreviewBrowser(path, dataDir, log, { totalMs: busyMs, ...limits })
  browser.register(show)
}

const inputOf = (body: string) => ({
  html: new TextEncoder().encode(`<!doctype html><title>Page</title><body>${body}`),
  files: [],
})
const preview = (body: string) => browser.preview(inputOf(body), signal)
const fine = { problems: [], screenshot: expect.any(Uint8Array) }

function starts(): number[] {
  const file = join(folder, 'starts')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
}

/** Returns the processes of the last browser: all, or those of a type. */
function listProcesses(type = ''): number[] {
  const group = starts().at(-1)
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const [state, , owner] =
        readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      const isLive = Number(owner) === group && state !== 'Z'
      return isLive && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(type)
        ? [Number(pid)]
        : []
    } catch {
      return []
    }
  })
}

function signalAll(pids: number[], name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The browser did not need this one.
    }
  }
}

const listFolders = () =>
  readdirSync(tmpdir()).filter((name) => name.includes(sha256(dataDir).slice(0, 12)))

describe.skipIf(installed === '')('the warm browser', () => {
  test('serves all pages, and they share nothing', async () => {
    open()
    const save = `localStorage.setItem('mine', '1'); indexedDB.open('mine', 1)`
    expect(await preview(`<h1>One</h1><script>${save}</script>`)).toEqual(fine)
    const read = `if (localStorage.getItem('mine')) throw new Error('shared');
      indexedDB.databases().then((all) => { if (all.length > 0) throw new Error('shared') })`
    expect(await preview(`<h1>Two</h1><script>${read}</script>`)).toEqual(fine)
    expect(starts()).toHaveLength(1)
  })

  test('opens one page for two cores at a time', async () => {
    open()
    let [running, most] = [0, 0]
    browser.register((input) => {
      most = Math.max(most, (running += 1))
      return show(input)
    })
    const pages = Array.from({ length: 4 }, (_, at) =>
      runFor({ prefix: `10.0.${at}.0/24`, charge() {} }, () =>
        preview('<h1>x</h1>').then((seen) => ((running -= 1), seen)),
      ),
    )
    expect(await Promise.all(pages)).toEqual([fine, fine, fine, fine])
    expect(most).toBe(Math.max(1, Math.floor(availableParallelism() / 2)))
    expect(starts()).toHaveLength(1)
  })

  test('a page that hangs ends, and the browser serves the next one', async () => {
    open({ hungMs: 2_000 })
    const seen = await preview('<h1>x</h1><script>setTimeout(() => { for (;;); }, 200)</script>')
    expect(seen?.problems.join()).toMatch(/does not respond/)
    expect(warnings).toEqual([])
    await until(() => listProcesses('--type=renderer').length === 0)
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    expect(starts()).toHaveLength(1)
  })

  test.each([
    ['buffers', 'setInterval(() => all.push(new Uint8Array(50_000_000).fill(1)), 20)'],
    ['arrays', 'for (;;) all.push(new Array(1e6).fill(1.5))'],
  ])('a page that fills the memory with %s ends, and the others continue', async (_, script) => {
    open({ hungMs: 60_000 })
    // A preview waits eight seconds for a page that draws nothing, which a slow machine needs.
    const seen = await preview(`<script>const all = []; ${script}</script>`)
    expect(seen?.problems.join()).toMatch(/memory/)
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    expect([starts().length, warnings]).toEqual([1, []])
  })

  test('after a crash the page is checked by a new browser', async () => {
    open()
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    process.kill(-(starts()[0] ?? 0), 'SIGKILL')
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    const checked = preview('<div></div>')
    await until(() => listProcesses('--type=renderer').length > 0)
    process.kill(-(starts()[1] ?? 0), 'SIGKILL')
    expect((await checked)?.problems.join()).toMatch(/blank/)
    expect([starts().length, warnings]).toEqual([3, []])
  })

  test('ends when it is idle and when the server stops, and leaves no profile', async () => {
    open({ idleMs: 0 })
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    await until(() => listProcesses().length === 0 && listFolders().length === 0)
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    const stopped = preview('<h1>x</h1><script>for (;;);</script>')
    await until(() => listProcesses('--type=renderer').length > 0)
    await browser.close()
    // A process that was killed is there until the kernel has freed its memory.
    await until(() => listProcesses().length === 0)
    expect(listFolders()).toEqual([])
    expect(await stopped).toBeUndefined()
    expect(starts()).toHaveLength(2)
  })

  test('ends with a server that is killed, also with a page that hangs', async () => {
    open()
    const script = join(folder, 'server.ts')
    const from = (file: string) => JSON.stringify(join(import.meta.dir, file))
    writeFileSync(
      script,
      `import { PreviewBrowser } from ${from('preview-browser.ts')}
       import { readPublic } from ${from('../../kernel/public-files.ts')}
       import { systemClock } from ${from('../../kernel/time.ts')}
       import { previewPages } from ${from('../viewer/preview-page.ts')}
       const log = { info() {}, warn() {}, error() {} }
       const browser = new PreviewBrowser(${JSON.stringify(join(folder, 'browser'))}, '${dataDir}', log)
       browser.register(previewPages(readPublic(), systemClock, async () => undefined))
       const html = new TextEncoder().encode('<h1>x</h1><script>for (;;);</script>')
       await browser.preview({ html, files: [] }, AbortSignal.timeout(60_000))`,
    )
    const server = Bun.spawn([process.execPath, script], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await until(() => listProcesses('--type=renderer').length > 1)
    server.kill('SIGKILL')
    await until(() => listProcesses().length === 0)
    expect(listFolders()).toHaveLength(1)
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    expect(listFolders()).toHaveLength(1)
  })
})

describe.skipIf(installed === '')('a busy machine', () => {
  test('does not fail a page that got no processor time', async () => {
    open({ hungMs: 1_000 })
    await preview('<h1>x</h1>')
    await until(() => listProcesses('--type=renderer').length === 0)
    const checked = preview(
      '<h1 id=h></h1><script>setTimeout(() => (h.textContent = "x"), 99)</script>',
    )
    await until(() => listProcesses('--type=renderer').length > 1)
    const renderers = listProcesses('--type=renderer')
    signalAll(renderers, 'SIGSTOP')
    // Longer than a page may take that hangs.
    await Bun.sleep(2_000)
    signalAll(renderers, 'SIGCONT')
    expect(await checked).toEqual(fine)
    expect([starts().length, warnings]).toEqual([1, []])
  })

  test('checks a page again, in a new browser where the old one does not answer', async () => {
    open({ totalMs: 10_000 })
    await preview('<h1>x</h1>')
    process.kill(-(starts()[0] ?? 0), 'SIGSTOP')
    expect(await preview('<h1>x</h1>')).toEqual(fine)
    expect([starts().length, warnings]).toEqual([2, []])
  })
})

test('a machine that never runs the page is reported as busy, without findings of the page', async () => {
  open({ totalMs: 100 }, 'sleep 1000 #')
  expect(await preview('<h1>x</h1>')).toBeUndefined()
  const why = expect.stringMatching('the machine is too busy')
  expect(warnings).toEqual([{ name: 'browser.failed', why }])
})
