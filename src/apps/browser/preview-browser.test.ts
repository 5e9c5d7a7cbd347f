import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { newId } from '../../kernel/ids.ts'
import { readPublic } from '../../kernel/public-files.ts'
import { systemClock } from '../../kernel/time.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { previewPages } from '../viewer/preview-page.ts'
import { PreviewBrowser } from './preview-browser.ts'

setDefaultTimeout(120_000)
const path = findBrowser('chromium')
const warnings: unknown[] = []
const note = (name: string, facts?: object): void => void warnings.push({ name, ...facts })
const log = { info: note, warn: note, error: note }
const dataDir = `/berth/${newId()}`
const browser = new PreviewBrowser(path, dataDir, log)
browser.register(previewPages(readPublic(), systemClock, async () => undefined))

let touched = 0
const canary = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(`${++touched}`),
})
afterAll(() => canary.stop(true))

const signal = AbortSignal.timeout(600_000)
const look = (body: string, files: Parameters<PreviewBrowser['preview']>[0]['files'] = []) => {
  const html = new TextEncoder().encode(`<!doctype html><title>Trial</title><body>${body}`)
  return browser.preview({ html, files }, signal)
}

test.skipIf(!path)('a page that draws has a screenshot and no problems', async () => {
  const seen = await look('<h1>Hello</h1><script>let a = 1</script>')
  expect(warnings).toEqual([])
  expect(seen?.problems).toEqual([])
  const image = new Bun.Image(seen?.screenshot ?? new Uint8Array())
  expect(await image.metadata()).toMatchObject({ width: 640, height: 640, format: 'png' })
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
  ['a blank page', '<div></div>', /is blank/],
  [
    'a redirect',
    "<h1>x</h1><script>self[['loc','ation'].join('')].assign('//elsewhere.test/')</script>",
    /leaves for https:\/\/elsewhere\.test\/ by itself/,
  ],
  [
    'a redirect while a frame is awaited',
    "<h1>x</h1><script>self.requestAnimationFrame = () => 0; setTimeout(() => self[['loc','ation'].join('')].assign('//elsewhere.test/'), 400)</script>",
    /leaves for https:\/\/elsewhere\.test\/ by itself/,
  ],
])('reports %s', async (_, body, problem) => {
  const seen = await look(body)
  expect(seen?.problems.join('\n')).toMatch(problem)
  expect(warnings).toEqual([])
})

test.skipIf(!path)('a page that asks for no frames is looked at like another', async () => {
  const seen = await look('<h1>x</h1><script>self.requestAnimationFrame = () => 0</script>')
  expect([seen?.problems, seen?.screenshot !== undefined]).toEqual([[], true])
  expect(warnings).toEqual([])
})

test.skipIf(!path)('waits for a page that draws late', async () => {
  const late = 'setTimeout(() => { document.body.textContent = "here" }, 4000)'
  expect((await look(`<script>${late}</script>`))?.problems).toEqual([])
})

test.skipIf(!path)('serves its files, and nothing reaches the network', async () => {
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
  expect(seen?.problems.join()).toContain('level 7')
  expect(touched).toBe(0)
})

/** A program that writes malformed messages to the DevTools pipe. */
const babbler = join(mkdtempSync(join(tmpdir(), 'berth-babbler-')), 'browser')
writeFileSync(babbler, "#!/bin/sh\nprintf 'hello\\0' >&4\nexec cat <&3\n", { mode: 0o755 })

test.each([
  ['is off', undefined, []],
  ['exits at once', '/bin/false', [/ended/]],
  ['does not exist', '/usr/bin/chromum', [/ENOENT/]],
  ['is not a program', '/etc/passwd', [/EACCES/]],
  ['sends malformed messages', babbler, [/ended/]],
])('a browser that %s reports nothing about the page', async (_, at, reasons) => {
  const bad = new PreviewBrowser(at, dataDir, log)
  bad.register(previewPages(readPublic(), systemClock, async () => undefined))
  const input = { html: new TextEncoder().encode('<p>x'), files: [] }
  warnings.length = 0
  expect(await bad.preview(input, signal)).toBeUndefined()
  expect(bad.isAvailable).toBe(at !== undefined)
  const why = reasons.map((words) => expect.stringMatching(words))
  expect(warnings).toEqual(why.map((why) => ({ name: 'browser.failed', why })))
})
