import type { Browser } from './browser.ts'
import { openChromium } from './chromium.ts'
import { openFirefox } from './firefox.ts'
import { openWebkit } from './webkit.ts'

type Opener = [name: Browser['name'], open: (path: string) => Promise<Browser>]

const all: Opener[] = [
  ['chromium', (path) => openChromium(path)],
  ['firefox', (path) => openFirefox(path)],
  ['webkit', (path) => openWebkit(path)],
]
const only = Bun.env['TEST_BROWSER']

/** The browsers of tests that run in each: all, or the one that TEST_BROWSER names. */
export const allBrowsers = all.filter(([name]) => only === undefined || name === only)
