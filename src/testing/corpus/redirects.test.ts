import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { PreviewBrowser } from '../../apps/browser/preview-browser.ts'
import { scan } from '../../apps/scan/inspection.ts'
import { previewPages } from '../../apps/viewer/preview-page.ts'
import { newId } from '../../kernel/ids.ts'
import { readPublic } from '../../kernel/public-files.ts'
import { systemClock } from '../../kernel/time.ts'
import { findBrowser } from '../browsers/browser.ts'
import { leaving } from './redirects/leaving.ts'
import { staying } from './redirects/staying.ts'

setDefaultTimeout(60_000)

const page = (body: string): string => `<!doctype html><title>Page</title><body>${body}`
const isHidden = (one: { isHidden?: boolean }): boolean => one.isHidden === true
const named = (all: readonly { name: string }[]): string[] => all.map(({ name }) => name)

/** Names of the pages that the rules keep off Explore for a redirect. */
const unlisted = (all: readonly { name: string; body: string }[]): string[] =>
  named(
    all.filter(({ body }) =>
      scan(page(body)).findings.some(({ code }) => code.startsWith('redirect.')),
    ),
  )

test('the text shows 89 of 95 pages that leave, and none of 67 that stay', () => {
  const shown = leaving.filter((one) => !isHidden(one))
  expect([shown.length, leaving.length, staying.length]).toEqual([89, 95, 67])
  expect(unlisted(leaving)).toEqual(named(shown))
  expect(unlisted(staying)).toEqual([])
})

test('a script that leaves after a press is a warning, and a link is nothing', () => {
  const warned = staying.filter(({ body }) => scan(page(body)).verdict === 'warn')
  expect(named(warned)).toEqual(named(staying.filter(({ isWarned }) => isWarned)))
})

const path = findBrowser('chromium')
const log = { info() {}, warn() {}, error() {} }
const browser = new PreviewBrowser(path, `/berth/${newId()}`, log)
browser.register(previewPages(readPublic(), systemClock, async () => undefined))
afterAll(() => browser.close())
const signal = AbortSignal.timeout(3_600_000)

/** Returns what a run of a page reports about leaving it. */
async function run(body: string): Promise<string[] | undefined> {
  const html = new TextEncoder().encode(page(body))
  const seen = await browser.preview({ html, files: [] }, signal)
  return seen?.problems.filter((problem) => problem.includes('leaves for'))
}

test.skipIf(!path).each(leaving.filter(isHidden))('a run shows: $name', async ({ body }) => {
  expect(await run(body)).toHaveLength(1)
})

/** Pages that go somewhere in themselves when they open. */
const moving = [
  'a link in a new tab',
  'a click function',
  'a created link',
  'a hash at the start',
  'a hash router',
  'a replaced hash',
  'pushState',
  'a router',
  'replaceState',
  'a router of an object',
  'a frame buster',
  'a click of its own button',
  'a submit listener',
]

test.skipIf(!path).each(staying.filter(({ name }) => moving.includes(name)))(
  'a run accepts: $name',
  async ({ body }) => {
    expect(await run(body)).toEqual([])
  },
)
