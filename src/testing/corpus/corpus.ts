import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { allBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findForPages, findInBrowser, type Tab } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openTarget, type Target } from '../red-team/target.ts'
import { isThorough } from '../thorough.ts'

const ms = 300_000
/**
 * Firefox and WebKit run the pages that need the viewer, whose history and storage differ between
 * browsers. All pages run in the thorough run or with CORPUS=.
 */
const runsAll = isThorough || Bun.env['CORPUS'] !== undefined

const types: Record<string, string> = {
  png: 'image/png',
  wav: 'audio/wav',
  json: 'application/json',
}

/** Public ids have 12 characters. */
const idOf = (at: number): string => `page${String(at).padStart(8, '0')}`

/** Gives an app all files of a folder. */
function putFiles(hosted: MemoryAppSource, id: string, folder: string): void {
  for (const name of readdirSync(folder)) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? ''
    hosted.putFile(id, name, type, readFileSync(join(folder, name)))
  }
}

/**
 * Declares the tests of a corpus: each page of `folder` tests itself in the sandbox and posts true,
 * or what is wrong. `viewer-…` pages run in the viewer, and `files-…` pages have the files of the
 * folder "files". CI runs every `stepInCi`th page in Chromium. `excepted` names pages that a
 * browser cannot run, as the docs say.
 */
export function testCorpus(
  title: string,
  folder: string,
  stepInCi: number,
  excepted: Partial<Record<Browser['name'], string[]>> = {},
): void {
  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.html') && new RegExp(Bun.env['CORPUS'] ?? '').test(name),
  )
  describe.each(allBrowsers)(`${title} in %s`, (browserName, open) => {
    const path = findForPages(browserName)
    test.skipIf(path === undefined)(
      'each page passes',
      async () => {
        const hosted = new MemoryAppSource()
        const pages = new Map<string, string>()
        for (const [at, name] of names.entries()) {
          const isPart = browserName === 'chromium' && at % stepInCi === 0
          const isChosen = runsAll || name.startsWith('viewer-') || isPart
          if (!isChosen || excepted[browserName]?.includes(name)) continue
          hosted.put(idOf(at), readFileSync(join(folder, name), 'utf8'))
          await hosted.putLibraries(idOf(at))
          if (name.startsWith('files-')) putFiles(hosted, idOf(at), join(folder, 'files'))
          pages.set(idOf(at), name)
        }
        const [alone, together] = [true, false].map((isAlone) =>
          [...pages.keys()].filter((id) => pages.get(id)?.startsWith('viewer-') === isAlone),
        )
        const results = await runPages(hosted, () => open(path ?? ''), together ?? [], alone)
        const failed = [...pages].flatMap(([id, name]) =>
          results.get(id) === true ? [] : [[name, results.get(id)]],
        )
        expect(failed).toEqual([])
      },
      ms,
    )
  })
}

/** Result of a page: the message that it posted, or why there is none. */
type PageResults = Map<string, unknown>

const frameDir = join(import.meta.dir, '../../../public/frame')
const batch = 6
const pageMs = 5_000
const viewerMs = 60_000
/** WebKitGTK now and then stops to act on a page. A new process runs the same page. */
const stoppedMs = 20_000
const allMs = 600_000

/**
 * Script of a page that runs many apps, each in a wrapper of its own, a few at a time. It does what
 * the shell does, except for the toolbar.
 */
const script = (ids: string[]): string => `
import { fetchPage, openList } from '/corpus/host.js'
const results = self.results = {}
const waiting = ${JSON.stringify(ids)}
const topOf = (source) => { let at = source; while (at && at.parent !== self) at = at.parent; return at }
async function run(id) {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts allow-forms allow-pointer-lock')
  frame.style = 'width:380px;height:200px;border:0'
  const list = openList('/a/' + id)
  const content = await fetchPage('/a/' + id, list)
  // A page with files has a wrapper of its own.
  const wrapper = (await list()).frame ?? '/frame'
  await new Promise((done) => {
    const end = (said) => { removeEventListener('message', take); clearTimeout(late); results[id] = said; frame.remove(); done() }
    const late = setTimeout(() => end('no message'), ${pageMs})
    const take = ({ source, data }) => {
      if (topOf(source) !== frame.contentWindow) return
      if (data?.type === 'mode') frame.contentWindow.postMessage({ type: 'start', run: 1, ...content, local: [], session: [], answers: [], isMuted: false }, '*')
      else if (data?.type === 'service:databases') source.postMessage({ databases: [] }, '*')
      else if (data && 'said' in data) end(data.said)
    }
    addEventListener('message', take)
    document.body.append(frame)
    // Firefox starts a page before its frame has a size.
    frame.getBoundingClientRect()
    frame.src = wrapper
  })
}
const worker = async () => { for (let id = waiting.shift(); id; id = waiting.shift()) await run(id).catch((e) => { results[id] = String(e) }) }
// A page that still loads would keep Firefox from drawing its frames.
addEventListener('load', () => setTimeout(async () => {
  await Promise.all(Array.from({ length: ${batch} }, worker))
  self.finished = true
}))
`

/**
 * Runs the pages of `hosted` in a browser and returns what each of them posted. Those of `alone`
 * need the viewer, one after another: they use the history, or what the viewer does for an app.
 */
export async function runPages(
  hosted: MemoryAppSource,
  openBrowser: () => Promise<Browser>,
  ids: string[],
  alone: string[] = [],
): Promise<PageResults> {
  const built = await Bun.build({
    entrypoints: [join(frameDir, 'host.ts')],
    target: 'browser',
    format: 'esm',
  })
  const loader = (await built.outputs[0]?.text()) ?? ''
  let browser = await openBrowser()
  const target = openTarget(hosted, browser.name, {
    handle: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/corpus/host.js') {
        return new Response(loader, { headers: { 'content-type': 'text/javascript' } })
      }
      if (pathname !== '/corpus') return undefined
      const page = `<!doctype html><body><script type=module>${script(ids)}</script>`
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })
  let tab = await browser.open()
  const runAlone = async (id: string): Promise<unknown> => {
    const mayStop = browser.name === 'webkit'
    const posted = await runInViewer(tab, target, id, mayStop ? stoppedMs : viewerMs)
    if (posted !== undefined) return posted
    const state = `no message; ${await stateOf(tab)}`
    if (!mayStop) return state
    console.log(`${browser.name} is started again at ${id}: ${state}`)
    await browser.close()
    browser = await openBrowser()
    tab = await browser.open()
    return (await runInViewer(tab, target, id, viewerMs)) ?? state
  }
  try {
    await tab.goto(`${target.origin}/corpus`)
    await findInBrowser(async () => ((await isFinished(tab)) ? true : undefined), allMs)
    const found = await tab.evaluate('self.results')
    const results = new Map(Object.entries(typeof found === 'object' && found ? found : {}))
    // Firefox does not draw some frames of such a page, and six at once may wait for a processor.
    for (const id of ids) {
      if (results.get(id) !== true) results.set(id, await runAlone(id))
    }
    for (const id of alone) results.set(id, await runAlone(id))
    return results
  } finally {
    await browser.close()
    target.close()
  }
}

const isFinished = async (tab: Tab): Promise<boolean> =>
  (await tab.evaluate('self.finished === true').catch(() => false)) === true

/** Opens an app at its link and returns what it posted; undefined where it posted nothing. */
async function runInViewer(tab: Tab, { origin }: Target, id: string, ms: number): Promise<unknown> {
  const path = `/a/${id}`
  // A command that a hanging browser does not answer fails, and leaves the page before this one.
  await tab.goto(origin + path).catch(() => undefined)
  const messages = `location.pathname === '${path}'
    ? self.told.filter((m) => m && 'said' in m).map((m) => m.said) : []`
  const posted = await findInBrowser(async () => {
    const all = await tab.evaluate(messages).catch(() => [])
    return Array.isArray(all) && all.length > 0 ? all : undefined
  }, ms)
  return posted?.[0]
}

/** Returns how far a page that posted nothing came, to tell it from a browser that hangs. */
const stateOf = (tab: Tab): Promise<string> =>
  tab
    .evaluate('[document.readyState, document.visibilityState, self.told.map((m) => m?.type)]')
    .then(
      (state) => `the viewer is at ${JSON.stringify(state)}`,
      (error: unknown) => `the browser hangs: ${error}`,
    )
