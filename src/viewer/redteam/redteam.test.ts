import { describe, expect, test } from 'bun:test'

import { type Browser, findBrowser } from '../../testing/browsers/browser.ts'
import { openChromium } from '../../testing/browsers/chromium.ts'
import { openFirefox } from '../../testing/browsers/firefox.ts'
import { tryAll } from './run.ts'
import type { Vector } from './vector.ts'
import { connections } from './vectors/connections.ts'
import { hosts } from './vectors/host.ts'
import { loads } from './vectors/loads.ts'
import { lookups } from './vectors/lookups.ts'
import { navigations } from './vectors/navigations.ts'
import { realms } from './vectors/realms.ts'

const vectors = [...connections, ...loads, ...navigations, ...realms, ...lookups, ...hosts]
const browsers: [name: 'chromium' | 'firefox', open: (path: string) => Promise<Browser>][] = [
  ['chromium', openChromium],
  ['firefox', openFirefox],
]
const wholeMs = 280_000

const names = (list: { vector: Vector }[]): string[] => list.map(({ vector }) => vector.name)

/**
 * Every way out that is live in a browser, each in its own page load: the unprotected page must get
 * through, the same page in the sandbox must run and must not.
 */
describe('the sandbox holds', () => {
  test('no two vectors have one name, and there are at least 80', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    expect(vectors.length).toBeGreaterThanOrEqual(80)
  })

  for (const [name, open] of browsers) {
    const path = findBrowser(name)
    test.concurrent.skipIf(path === undefined)(
      name,
      async () => {
        const outcomes = await tryAll(await open(path ?? ''), vectors)
        expect(outcomes.length).toBeGreaterThanOrEqual(80)
        expect({
          dead: names(outcomes.filter(({ control }) => !control)),
          idle: names(outcomes.filter(({ ran }) => !ran)),
          through: names(outcomes.filter(({ reached }) => reached)),
        }).toEqual({ dead: [], idle: [], through: [] })
      },
      wholeMs,
    )
  }
})
