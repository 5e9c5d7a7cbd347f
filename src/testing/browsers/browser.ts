import { existsSync } from 'node:fs'

import { isThorough } from '../thorough.ts'
import { findWithin } from '../until.ts'

/** A browser under remote control. */
export interface Browser {
  name: 'chromium' | 'firefox' | 'webkit'
  /** A `behind` tab is hidden while another tab is driven. */
  open(tab?: 'shown' | 'behind'): Promise<Tab>
  close(): Promise<void>
  /** Host names that the browser's resolver looked up. Complete only after close(). */
  lookups(): Promise<string>
}

/** A page load. Its top document collects every message it receives in `self.told`. */
export interface Tab {
  goto(url: string): Promise<void>
  /** Evaluates an expression in the top document and returns its value through JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Field names of all messages that the top document received, also after a crash. */
  received(): Promise<string[]>
  /** Clicks at a position of the viewport. */
  click(x: number, y: number, button?: 'left' | 'middle'): Promise<void>
  press(key: string): Promise<void>
  screenshot(path: string): Promise<void>
  /** Native dialogs, downloads and new windows that the page opened. */
  seen(): string[]
  close(): Promise<void>
}

/** A host name that Chromium and Firefox resolve to this machine. */
export const localName = 'berth-tests.test'

export const viewport = { width: 1_280, height: 800 }

/** Script that runs in the top document before the page's own code. */
export const recorder =
  "if (self === top) { self.told = []; addEventListener('message', (e) => { self.told.push(e.data); " +
  "console.debug('told', location.href, ...Object.keys(e.data ?? {})) }) }"

/** Every new window would start two processes for an address bar. They cost more than its page. */
export const addressBar = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

/** Features that Playwright disables because they change pages. Chromium takes only one list. */
const ofPlaywright = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/** Pages of tests run most code a few times. In CI it is not optimized, which took a seventh. */
export const lessOptimizing = isThorough ? [] : ['--js-flags=--no-turbofan --no-maglev']

/** Flags of Chromium for tests with Playwright. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  ...lessOptimizing,
  `--disable-features=${[...addressBar, ...ofPlaywright].join()}`,
]

/** Installation of a browser that the tests use. */
export interface BrowserSpec {
  /** Debian packages. */
  packages: string[]
  paths: string[]
  /** Oldest supported major version. */
  oldest?: number
  /** Other programs that drive the browser. */
  drivers?: string[]
  /** CI skips the tests of an optional browser that cannot be installed. */
  isOptional?: true
}

export const browsers: Record<Browser['name'], BrowserSpec> = {
  chromium: {
    packages: ['chromium'],
    paths: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
    // This version enforces Connection-Allowlist.
    oldest: 152,
  },
  firefox: {
    packages: ['firefox-esr'],
    paths: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
    oldest: 153,
  },
  // WebKitGTK: the closest engine to Safari on Linux. It needs a display.
  webkit: {
    packages: ['webkit2gtk-driver', 'xvfb'],
    paths: ['x86_64', 'aarch64'].map(
      (processor) => `/usr/lib/${processor}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
    ),
    drivers: ['/usr/bin/WebKitWebDriver', '/usr/bin/Xvfb'],
    isOptional: true,
  },
}

/** Paths of browsers that are new enough: to ask one takes a tenth of a second of the processor. */
const recent = new Set<string>()

/** Returns the path of an installed browser that is new enough. */
export const findPath = ({ paths, oldest, drivers = [] }: BrowserSpec): string | undefined =>
  paths.find((path) => {
    if (![path, ...drivers].every((file) => existsSync(file))) return false
    if (oldest === undefined || recent.has(path)) return true
    const { stdout } = Bun.spawnSync([path, '--version'], { stderr: 'ignore' })
    const isRecent = Number(/ (\d+)\./.exec(stdout.toString())?.[1]) >= oldest
    if (isRecent) recent.add(path)
    return isRecent
  })

/** Chromium without windows, whose pages take three quarters of the processor time. */
export const headlessShell: BrowserSpec = {
  packages: ['chromium-headless-shell'],
  paths: ['/usr/bin/chromium-headless-shell'],
  ...(browsers.chromium.oldest !== undefined && { oldest: browsers.chromium.oldest }),
  isOptional: true,
}

/** Returns the path of a browser for tests of pages. In CI, Chromium is the one without windows. */
export const findForPages = (name: Browser['name'] = 'chromium'): string | undefined =>
  (name === 'chromium' && !isThorough ? findPath(headlessShell) : undefined) ?? findBrowser(name)

/**
 * Returns the path of an installed browser, or prints the install command and returns undefined.
 * Throws in CI unless the browser is optional.
 */
export function findBrowser(name: Browser['name']): string | undefined {
  const spec = browsers[name]
  const found = findPath(spec)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install ${spec.packages.join(' ')}`
  const what = [name, spec.oldest].join(' ').trim()
  const line = `No ${what} is here: its tests were skipped. On Debian: ${install}`
  if (Bun.env['CI'] === 'true' && !spec.isOptional) throw new Error(line)
  process.stderr.write(`${line}\n`)
  return undefined
}

/**
 * Returns the path of the whole Chromium, for attacks, for what a browser itself does, and for the
 * bar that hides: without windows there is no mouse that hovers.
 */
export const findWhole = (): string | undefined => findBrowser('chromium')

/** A browser may never answer for a frame that it replaces meanwhile. */
const resultMsMax = 5_000

/** Polls a browser until a result is there; undefined after `ms` milliseconds. */
export const findInBrowser = <T>(
  poll: () => Promise<T | undefined>,
  ms: number,
): Promise<T | undefined> =>
  findWithin(() => Promise.race([poll(), Bun.sleep(resultMsMax).then(() => undefined)]), ms)

/** Returns the field names of the messages that a top document recorded. */
export async function receivedBy(evaluate: Tab['evaluate']): Promise<string[]> {
  const names = await evaluate('self.told.flatMap((data) => Object.keys(data ?? {}))')
  return Array.isArray(names) ? names : []
}

/** A mouse and a keyboard whose actions (WebDriver) are sent by `act`. */
export const handsOf = (
  act: (source: object) => Promise<unknown>,
): Pick<Tab, 'click' | 'press'> => ({
  async click(x, y, button = 'left') {
    const number = button === 'left' ? 0 : 1
    const actions = [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 },
      { type: 'pointerDown', button: number },
      { type: 'pointerUp', button: number },
    ]
    await act({ type: 'pointer', id: 'mouse', actions })
  },
  async press(key) {
    const value =
      { Enter: '\uE007', Tab: '\uE004', Escape: '\uE00C', ArrowRight: '\uE014' }[key] ?? key
    const actions = [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]
    await act({ type: 'key', id: 'keys', actions })
  },
})
