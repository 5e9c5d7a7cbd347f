import { describe, expect, test } from 'bun:test'

import { allBrowsers } from '../browsers/all-browsers.ts'
import { findBrowser } from '../browsers/browser.ts'
import { isThorough } from '../thorough.ts'
import { runVectors } from './run.ts'
import type { Vector } from './vector.ts'
import { connections, lookups } from './vectors/connections.ts'
import { files } from './vectors/files.ts'
import { habits } from './vectors/habits.ts'
import { hosts } from './vectors/host.ts'
import { libraries } from './vectors/libraries.ts'
import { loads } from './vectors/loads.ts'
import { navigations } from './vectors/navigations.ts'
import { realms } from './vectors/realms.ts'

/** Ways around code of this project. The policies of the browser stop the others. */
const ownVectors = [...hosts, ...libraries, ...habits, ...files]
const vectors = [...connections, ...loads, ...navigations, ...realms, ...lookups, ...ownVectors]
/**
 * A few vectors of each kind. WebKit runs these only, because just one of its windows acts at a
 * time. Chromium runs these unprotected as well, and all browsers all of their vectors in the
 * thorough run: which of them get through there depends on the browser and not on this code.
 */
const some = new Set(
  [
    'fetch, fetch in a blob worker, XHR synchronous, sendBeacon, EventSource, WebSocket, import()',
    'import in a module worker, import in an audio worklet module, img, video, CSS @import',
    'link preconnect, link preconnect by innerHTML, link preconnect by createDocument',
    'link preconnect by XML entity, location.href, top.location, meta refresh, link, iframe',
    'iframe srcdoc with an img, form by script, cookies of the host, answer of the host',
    'link preconnect in a declarative shadow root, eval in a blob worker that fetches',
    'press in a closed declarative shadow root, link in a comment in a script',
    'another app by fetch, another app by importScripts, another app by location',
    'the host by fetch, another app by CSS @import, another app by frame, dots by fetch',
    'library by its tag, import map that replaces a library, library of another app by tag',
  ].flatMap((line) => line.split(', ')),
)
const wholeMs = 1_200_000
const step = 6

/**
 * CI tries each way around code of this project in Chromium or in Firefox, in turns, and every
 * sixth of the other vectors in Firefox, where scripts of the sandbox stop what Chromium stops by
 * Connection-Allowlist.
 */
const isTried = (vector: Vector, at: number, browser: string): boolean => {
  if (some.has(vector.name)) return true
  if (browser === 'webkit') return false
  if (isThorough) return true
  const isFirefox = browser === 'firefox'
  return ownVectors.includes(vector) ? at % 2 === Number(isFirefox) : isFirefox && at % step === 0
}

const leastTried: Record<string, number> = isThorough
  ? { chromium: 160, firefox: 160, webkit: some.size }
  : { chromium: 70, firefox: 80, webkit: some.size }

const hasControl = ({ name }: Vector, browser: string): boolean =>
  isThorough || (browser === 'chromium' && some.has(name))

const names = (list: { vector: Vector }[]): string[] => list.map(({ vector }) => vector.name)

/**
 * Runs the vectors of a browser, each in its own page load. An unprotected page must get through.
 * The page in the sandbox must run and must not get through.
 */
describe('the sandbox blocks', () => {
  test('at least 160 vectors with unique names', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    expect(vectors.length).toBeGreaterThanOrEqual(160)
  })

  for (const [name, open] of allBrowsers) {
    const tried = vectors.filter((vector, at) => isTried(vector, at, name))
    const path = findBrowser(name)
    test.concurrent.skipIf(path === undefined)(
      name,
      async () => {
        const outcomes = await runVectors(await open(path ?? ''), tried, (vector) =>
          hasControl(vector, name),
        )
        expect(outcomes.length).toBeGreaterThanOrEqual(leastTried[name] ?? 0)
        expect({
          dead: names(outcomes.filter(({ control }) => control === false)),
          idle: names(outcomes.filter(({ ran }) => !ran)),
          through: names(outcomes.filter(({ reached }) => reached)),
        }).toEqual({ dead: [], idle: [], through: [] })
      },
      wholeMs,
    )
  }
})
