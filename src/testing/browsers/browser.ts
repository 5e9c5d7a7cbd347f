import { existsSync } from 'node:fs'

/** A browser driven from outside, as far as our tests need one. */
export interface Browser {
  name: 'chromium' | 'firefox' | 'webkit'
  /** One `behind` is hidden while another is driven, as tabs of people are. */
  open(tab?: 'shown' | 'behind'): Promise<Tab>
  close(): Promise<void>
  /** Host names the browser's own resolver was asked for; complete only after close(). */
  lookups(): Promise<string>
}

/** One page load. Its top document keeps every message it gets in `self.told`. */
export interface Tab {
  goto(url: string): Promise<void>
  /** Evaluates an expression in the top document; its value comes back as JSON. */
  evaluate(expression: string): Promise<unknown>
  /** The names of the fields of all messages that the top document got, whatever became of it. */
  received(): Promise<string[]>
  /** Presses and releases a mouse button at a place of the viewport. */
  click(x: number, y: number, button?: 'left' | 'middle'): Promise<void>
  press(key: string): Promise<void>
  screenshot(path: string): Promise<void>
  /** Native dialogs, downloads and new windows that were seen. */
  seen(): string[]
  close(): Promise<void>
}

export const viewport = { width: 1_280, height: 800 }

/** Runs in the top document before anything of the page. */
export const recorder =
  "if (self === top) { self.told = []; addEventListener('message', (e) => { self.told.push(e.data); " +
  "console.debug('told', location.href, ...Object.keys(e.data ?? {})) }) }"

/** A browser that the tests want. */
export interface BrowserSpec {
  /** Debian's packages. */
  packages: string[]
  paths: string[]
  /** The oldest version that the tests are written for. */
  oldest?: number
  /** What drives it, where it does not do that itself. */
  beside?: string[]
  /** Where it cannot be had, its tests are left out, in CI as well. */
  isOptional?: true
}

export const browsers: Record<Browser['name'], BrowserSpec> = {
  chromium: {
    packages: ['chromium'],
    paths: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
    // Obeys Connection-Allowlist.
    oldest: 152,
  },
  firefox: {
    packages: ['firefox-esr'],
    paths: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
    oldest: 153,
  },
  // WebKitGTK: the engine of Safari, as near as it comes on Linux. It wants a screen.
  webkit: {
    packages: ['webkit2gtk-driver', 'xvfb'],
    paths: ['x86_64', 'aarch64'].map(
      (processor) => `/usr/lib/${processor}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
    ),
    beside: ['/usr/bin/WebKitWebDriver', '/usr/bin/Xvfb'],
    isOptional: true,
  },
}

/** Where a browser is installed that is new enough. */
export const findPath = ({ paths, oldest, beside = [] }: BrowserSpec): string | undefined =>
  paths.find((path) => {
    if (![path, ...beside].every((file) => existsSync(file))) return false
    if (oldest === undefined) return true
    const { stdout } = Bun.spawnSync([path, '--version'], { stderr: 'ignore' })
    return Number(/ (\d+)\./.exec(stdout.toString())?.[1]) >= oldest
  })

/** Where a browser is installed; undefined, after one line that says how to get it. */
export function findBrowser(name: Browser['name']): string | undefined {
  const wanted = browsers[name]
  const found = findPath(wanted)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install ${wanted.packages.join(' ')}`
  const what = [name, wanted.oldest].join(' ').trim()
  const line = `No ${what} is here: its tests were skipped. On Debian: ${install}`
  if (Bun.env['CI'] === 'true' && !wanted.isOptional) throw new Error(line)
  process.stderr.write(`${line}\n`)
  return undefined
}

/** Asks again until the answer is there, for at most `ms`. */
export async function until<T>(
  ask: () => Promise<T | undefined>,
  ms: number,
): Promise<T | undefined> {
  const end = performance.now() + ms
  for (;;) {
    const found = await ask()
    if (found !== undefined || performance.now() > end) return found
    await Bun.sleep(100)
  }
}
