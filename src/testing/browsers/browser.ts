import { existsSync } from 'node:fs'

/** A browser driven from outside, as far as our tests need one. */
export interface Browser {
  name: 'chromium' | 'firefox'
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
  told(): Promise<string[]>
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
export interface Wanted {
  /** Debian's package. */
  package: string
  paths: string[]
  /** The oldest version that the tests are written for. */
  oldest: number
}

export const browsers: Record<Browser['name'], Wanted> = {
  chromium: {
    package: 'chromium',
    paths: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
    // Obeys Connection-Allowlist.
    oldest: 152,
  },
  firefox: {
    package: 'firefox-esr',
    paths: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
    oldest: 153,
  },
}

/** Where a browser is installed that is new enough. */
export const newEnough = ({ paths, oldest }: Wanted): string | undefined =>
  paths.find((path) => {
    if (!existsSync(path)) return false
    const { stdout } = Bun.spawnSync([path, '--version'], { stderr: 'ignore' })
    return Number(/ (\d+)\./.exec(stdout.toString())?.[1]) >= oldest
  })

/** Where a browser is installed; undefined, after one line that says how to get it. */
export function findBrowser(name: Browser['name']): string | undefined {
  const wanted = browsers[name]
  const found = newEnough(wanted)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install ${wanted.package}`
  const line = `No ${name} ${wanted.oldest} is here: its tests were skipped. On Debian: ${install}`
  if (Bun.env['CI'] === 'true') throw new Error(line)
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
