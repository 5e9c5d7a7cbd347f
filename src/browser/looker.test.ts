import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { newId } from '../core/ids.ts'
import { readPublic } from '../core/public.ts'
import { systemClock } from '../core/time.ts'
import { findBrowser } from '../testing/browsers/browser.ts'
import { trialBy } from '../viewer/trial.ts'
import { PreviewBrowser } from './preview-browser.ts'

setDefaultTimeout(60_000)
const path = findBrowser('chromium')
const warnings: unknown[] = []
const note = (name: string, facts?: object): void => void warnings.push({ name, ...facts })
const log = { info: note, warn: note, fault: note }
const dataDir = `/house/${newId()}`
const looker = new PreviewBrowser(path, dataDir, log)
looker.register(trialBy(readPublic(), systemClock))

let touched = 0
const canary = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(`${++touched}`),
})
afterAll(() => canary.stop(true))

const signal = AbortSignal.timeout(120_000)
const look = (body: string, files: Parameters<PreviewBrowser['look']>[0]['files'] = []) => {
  const html = new TextEncoder().encode(`<!doctype html><title>Trial</title><body>${body}`)
  return looker.look({ html, files }, signal)
}

test.skipIf(!path)('a page that draws is seen, and its picture is one', async () => {
  const seen = await look('<h1>Hello</h1><script>let a = 1</script>')
  expect(warnings).toEqual([])
  expect(seen?.faults).toEqual([])
  const picture = new Bun.Image(seen?.picture ?? new Uint8Array())
  expect(await picture.metadata()).toMatchObject({ width: 640, height: 640, format: 'png' })
})

test.skipIf(!path).each([
  [
    'a throw',
    '<h1>x</h1><script>nothing.here()</script>',
    /ReferenceError: nothing is not defined/,
  ],
  [
    'a later throw',
    '<h1>x</h1><script>setTimeout(() => { throw new Error("late") }, 400)</script>',
    /late/,
  ],
  ['a promise', '<h1>x</h1><script>Promise.reject(new Error("lost"))</script>', /lost/],
  ['nothing drawn', '<div></div>', /draws nothing/],
  [
    'an endless loop',
    '<h1>x</h1><script>setTimeout(() => { for (;;); }, 200)</script>',
    /does not answer/,
  ],
])('%s is told', async (_, body, fault) => {
  const seen = await look(body)
  expect(seen?.faults.join('\n')).toMatch(fault)
  expect(warnings).toEqual([])
})

test.skipIf(!path)('its files are there, and nothing of it reaches the network', async () => {
  const content = new TextEncoder().encode('{"level":7}')
  const files = [{ name: 'level.json', type: 'application/json', sha256: 'a'.repeat(64), content }]
  const out = `http://127.0.0.1:${canary.port}/`
  const seen = await look(
    `<h1 id=h></h1><img src="${out}1"><script>
      fetch('${out}2').catch(() => {}); new Image().src = '${out}3'; navigator.sendBeacon?.('${out}4')
      service.assets.ready.then(async () => {
        h.textContent = (await service.assets.json('level.json')).level
        throw new Error('level ' + h.textContent)
      })
    </script>`,
    files,
  )
  expect(seen?.faults.join()).toContain('level 7')
  expect(touched).toBe(0)
})

/** A program that says on the browser's pipe what no browser says. */
const babbler = join(mkdtempSync(join(tmpdir(), 'berth-babbler-')), 'browser')
writeFileSync(babbler, "#!/bin/sh\nprintf 'hello\\0' >&4\nexec cat <&3\n", { mode: 0o755 })

test.each([
  ['is off', undefined, []],
  ['ends at once', '/bin/false', [/ended/]],
  ['is not there', '/usr/bin/chromum', [/ENOENT/]],
  ['is no program', '/etc/passwd', [/EACCES/]],
  ['talks nonsense', babbler, [/ended/]],
])('a browser that %s says nothing of the page', async (_, at, told) => {
  const bad = new PreviewBrowser(at, dataDir, log)
  bad.register(trialBy(readPublic(), systemClock))
  const trial = { html: new TextEncoder().encode('<p>x'), files: [] }
  warnings.length = 0
  expect(await bad.look(trial, signal)).toBeUndefined()
  expect(bad.isThere).toBe(at !== undefined)
  const why = told.map((words) => expect.stringMatching(words))
  expect(warnings).toEqual(why.map((why) => ({ name: 'browser.failed', why })))
})
