import { type Browser, type Tab, until, viewport } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { type Canary, openCanary } from './canary.ts'
import { openTarget, type Target } from './target.ts'
import type { Vector } from './vector.ts'

const tabsAtOnce = { chromium: 10, firefox: 10, webkit: 3 }
const controlMs = 5_000
const loadMs = 12_000
/** How long a protected page is watched after it ran and was pressed. */
const settleMs = 700
const lookupMs = 2_500

/** What became of a vector: in the open, where it must get through, and in the sandbox. */
export interface Outcome {
  vector: Vector
  control: boolean
  ran: boolean
  reached: boolean
}

interface Attempt {
  vector: Vector
  mark: string
  canary: Canary
  guarded: boolean
  ran: boolean
  isReported: boolean
  native: boolean
}

const idOf = (mark: string): string => mark.padStart(12, '0')
const nameOf = (mark: string): string => `rt-${mark}.localhost`

/** The vector's markup with its own addresses in it, and a line that says that it ran. */
function pageOf({ vector, mark, canary }: Attempt, origin: string): string {
  const host = `127.0.0.1:${canary.port}`
  const words: Record<string, string> = {
    http: `http://${host}/`,
    ws: `ws://${host}/`,
    host,
    stun: `stun:${host}`,
    turn: `turn:${host}?transport=tcp`,
    name: nameOf(mark),
    self: `${origin}/reach/${mark}`,
    mark,
  }
  const page = vector.page.replace(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole)
  return `<!doctype html><body><script>top.postMessage({ran:1},'*')</script>${page}`
}

/** Whether it got through, as far as can be seen while the browser still runs. */
function reached(trial: Attempt, target: Target): boolean {
  switch (trial.vector.by) {
    case 'datagram':
      return trial.canary.datagram
    case 'told':
      return trial.isReported
    case 'native':
      return trial.native
    case 'host':
      return target.reached.has(trial.mark)
    case 'lookup':
      return false
    default:
      return trial.canary.connected || trial.canary.datagram
  }
}

async function look(tab: Tab, trial: Attempt, before: number): Promise<void> {
  const told = await tab.received().catch((): string[] => [])
  trial.ran ||= told.includes('ran')
  trial.isReported ||= told.includes('got')
  trial.native ||= tab.seen().length > before
}

function addressOf({ vector, guarded, mark }: Attempt, origin: string): string {
  const open = vector.alone ? 'inner' : 'control'
  return `${origin}/${guarded ? 'a' : open}/${idOf(mark)}`
}

async function attempt(tab: Tab, target: Target, trial: Attempt): Promise<void> {
  const { vector, guarded } = trial
  const before = tab.seen().length
  const through = async (): Promise<true | undefined> => {
    await look(tab, trial, before)
    return reached(trial, target) || undefined
  }
  await tab.goto(addressOf(trial, target.origin))
  await until(async () => (await through()) ?? (trial.ran || undefined), loadMs)
  if (vector.hand) await hand(tab, vector.hand)
  if (guarded) await Bun.sleep(settleMs)
  // A look-up is known only from the log that the browser leaves behind.
  else if (vector.by === 'lookup') await Bun.sleep(lookupMs)
  else await until(through, controlMs)
  await through()
}

async function hand(tab: Tab, what: NonNullable<Vector['hand']>): Promise<void> {
  await Bun.sleep(150)
  if (what === 'Enter') await tab.press('Enter')
  else
    await tab.click(viewport.width / 2, viewport.height / 2, what === 'middle' ? 'middle' : 'left')
}

/** Works through the trials in a few tabs, each used for one page load after another. */
async function inTabs(
  tabs: number,
  browser: Browser,
  target: Target,
  trials: Attempt[],
): Promise<void> {
  const queue = [...trials]
  const worker = async (): Promise<void> => {
    let tab = await browser.open()
    for (let trial = queue.shift(); trial; trial = queue.shift()) {
      // A page that brings its tab down is tried again in a fresh one.
      for (let tries = 0; tries < 2; tries += 1) {
        const whole = await attempt(tab, target, trial).then(
          () => true,
          () => false,
        )
        if (whole) break
        await tab.close().catch(() => undefined)
        tab = await browser.open()
      }
    }
    await tab.close().catch(() => undefined)
  }
  await Promise.all(Array.from({ length: Math.min(tabs, queue.length) }, worker))
}

/** Runs all trials, closes the browser whatever happened, and answers its resolver's log. */
async function runAll(browser: Browser, target: Target, trials: Attempt[]): Promise<string> {
  try {
    const watcher = await browser.open()
    await watcher.goto(`${target.origin}/watch`)
    await inTabs(tabsAtOnce[browser.name], browser, target, trials)
    // What a busy machine left out, or a tab in the back, is tried once more before it counts.
    const left = trials.filter((trial) =>
      trial.guarded ? !trial.ran : trial.vector.by !== 'lookup' && !reached(trial, target),
    )
    await inTabs(1, browser, target, left)
  } finally {
    await browser.close()
  }
  return browser.lookups()
}

/** Tries every vector that is live in this browser, unprotected and in the sandbox. */
export async function runVectors(browser: Browser, vectors: Vector[]): Promise<Outcome[]> {
  const hosted = new MemoryAppSource()
  const target = openTarget(hosted, browser.name)
  const live = vectors.filter(({ live }) => live === undefined || live.includes(browser.name))
  const trials: Attempt[] = []
  for (const [index, vector] of live.entries()) {
    for (const guarded of [false, true]) {
      const mark = `${index}${guarded ? 'g' : 'c'}`
      const start = { ran: false, isReported: false, native: false }
      trials.push({ vector, mark, guarded, canary: await openCanary(), ...start })
    }
  }
  for (const trial of trials) hosted.put(idOf(trial.mark), pageOf(trial, target.origin))

  const lookups = await runAll(browser, target, trials).finally(() => {
    for (const { canary } of trials) canary.close()
    target.close()
  })
  const through = (trial: Attempt): boolean =>
    reached(trial, target) || lookups.includes(nameOf(trial.mark))
  return live.map((vector, index) => {
    const [control, guarded] = trials.slice(index * 2, index * 2 + 2)
    if (!control || !guarded) throw new Error('a vector without its trials')
    return { vector, control: through(control), ran: guarded.ran, reached: through(guarded) }
  })
}
