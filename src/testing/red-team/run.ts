import { mediaTypeOf } from '../../apps/assets/upload.ts'
import { isHtml, isScript } from '../../apps/folders/page-names.ts'
import { locateCode } from '../../apps/folders/script-location.ts'
import { librariesPath } from '../../apps/viewer/library-files.ts'
import { type Browser, findInBrowser, type Tab, viewport } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openTarget, type Target, type TargetOptions } from './target.ts'
import type { Vector } from './vector.ts'

const tabsAtOnce = { chromium: 10, firefox: 5, webkit: 3 }
const controlMs = 5_000
const loadMs = 12_000
/** The least time to watch a protected page after it has run and was clicked. */
const settleMs = 700
const lookupMs = 2_500

/** Result of a vector: unprotected, if it ran there and must get through, and in the sandbox. */
interface Outcome {
  vector: Vector
  control: boolean | undefined
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
const probeId = idOf('probe')
const probePage = '<script>fetch(`http://127.0.0.1:${location.hash.slice(1)}`)</script>'
const cdnHost = 'cdn.jsdelivr.net'
const nameOf = (mark: string): string => `rt-${mark}.localhost`

/** Returns a function that puts the addresses of an attempt into a text of its vector. */
function addressesOf(
  { mark, canary, guarded }: Attempt,
  { origin, fileOf }: Target,
  library: string,
): (text: string) => string {
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
    at: new URL(origin).host,
    other: fileOf(idOf('other'), mark),
    version: fileOf(idOf(mark), mark, 7),
    own: guarded ? '' : `${origin}/own/${idOf(mark)}/`,
    guess: `${origin}/f/${'0'.repeat(32)}/reach-${mark}.js`,
    cdn: guarded ? `https://${cdnHost}/npm/` : `http://${host}/`,
    library,
  }
  return (text) => text.replace(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole)
}

/** Returns a page with a script that reports that it runs. */
const pageOf = (body: string): string =>
  `<!doctype html><body><script>top.postMessage({ran:1},'*')</script>${body}`

/** Returns a page or script of a folder with the location that publishing gives it. */
const published = (path: string, text: string): string =>
  isHtml(path) || isScript(path) ? locateCode({ path, text }).text : text

/** Stores the page of an attempt with its own files and its libraries. */
async function putPage(
  hosted: MemoryAppSource,
  { vector, mark, guarded }: Attempt,
  addressed: (text: string) => string,
): Promise<void> {
  const id = idOf(mark)
  const html = pageOf(addressed(vector.page))
  const own = vector.own ?? (vector.hasFiles ? { 'own.js': ' ' } : {})
  const isFolder = guarded && Object.keys(own).length > 0
  const inFolder = (path: string, text: string): string => (isFolder ? published(path, text) : text)
  hosted.put(id, inFolder('index.html', html))
  for (const [name, text] of Object.entries(own)) {
    const bytes = new TextEncoder().encode(inFolder(name, addressed(text)))
    hosted.putFile(id, name, mediaTypeOf(name), bytes)
  }
  if (!guarded || vector.libraries === undefined) return
  await hosted.putLibraries(id)
  if (vector.libraries === 'removed') hosted.removeLibraryFiles(id)
}

/** Returns whether the vector got through, as far as the running browser shows it. */
function reached(attempt: Attempt, target: Target): boolean {
  switch (attempt.vector.by) {
    case 'datagram':
      return attempt.canary.datagram
    case 'told':
      return attempt.isReported
    case 'native':
      return attempt.native
    case 'host':
      return target.reached.has(attempt.mark)
    case 'lookup':
      return false
    default:
      return attempt.canary.connected || attempt.canary.datagram
  }
}

async function recordState(tab: Tab, attempt: Attempt, before: number): Promise<void> {
  const fields = await tab.received().catch((): string[] => [])
  attempt.ran ||= fields.includes('ran')
  attempt.isReported ||= fields.includes('got')
  attempt.native ||= tab.seen().length > before
}

function addressOf({ vector, guarded, mark }: Attempt, origin: string): string {
  const open = vector.alone ? 'inner' : 'control'
  return `${origin}/${guarded ? 'a' : open}/${idOf(mark)}`
}

/** Path of the page of an app, which a server that is gone does not serve. */
const appPath = /^\/a\/\w+$/

/** The place in which the vectors run. */
export type Where = Pick<TargetOptions, 'place' | 'tls'> & {
  /** In the offline copies of installed apps. All but the pages of the apps is there. */
  isCopy?: boolean
}

/** Saves the copy of an app in the browser. */
async function saveCopy(tab: Tab, page: string): Promise<void> {
  await tab.goto(`${page}/install`)
  await findInBrowser(async () => {
    const status = await tab.evaluate("document.getElementById('copied')?.textContent")
    return String(status).startsWith('A copy is saved') || undefined
  }, loadMs)
}

/** Opens an unprotected page that sends something out. Returns whether it got through. */
type Probe = () => Promise<boolean>

/**
 * A page without processor time looks like one that the sandbox blocked. So a protected page is
 * watched until an unprotected one, opened later in the same browser, has got through.
 */
function openProbe(watcher: Tab, origin: string): Probe {
  return async () => {
    const canary = await openCanary()
    const id = `probe${canary.port}`
    await watcher.evaluate(`(() => {
      const frame = document.createElement('iframe')
      Object.assign(frame, { id: '${id}', src: '${origin}/inner/${probeId}#${canary.port}' })
      document.body.append(frame)
    })()`)
    const isThrough = await findInBrowser(async () => canary.connected || undefined, loadMs)
    await watcher.evaluate(`document.getElementById('${id}').remove()`)
    canary.close()
    return isThrough === true
  }
}

async function runAttempt(
  tab: Tab,
  target: Target,
  attempt: Attempt,
  { probe, isCopy = false }: { probe: Probe; isCopy?: boolean | undefined },
): Promise<void> {
  const { vector, guarded } = attempt
  const before = tab.seen().length
  const through = async (): Promise<true | undefined> => {
    await recordState(tab, attempt, before)
    return reached(attempt, target) || undefined
  }
  const page = addressOf(attempt, target.origin)
  if (isCopy) await saveCopy(tab, page)
  await tab.goto(page)
  await findInBrowser(async () => (await through()) ?? (attempt.ran || undefined), loadMs)
  if (vector.hand) await hand(tab, vector.hand)
  let isWatched = true
  if (guarded) [isWatched] = await Promise.all([probe(), Bun.sleep(settleMs)])
  // A lookup is known only from the log that the browser leaves.
  else if (vector.by === 'lookup') await Bun.sleep(lookupMs)
  else if (!(await findInBrowser(through, controlMs)) && vector.hand) {
    // The first press may have come before the page was ready.
    await hand(tab, vector.hand)
    await findInBrowser(through, controlMs)
  }
  await through()
  attempt.ran &&= isWatched
}

async function hand(tab: Tab, what: NonNullable<Vector['hand']>): Promise<void> {
  await Bun.sleep(150)
  if (what === 'Enter') await tab.press('Enter')
  else
    await tab.click(viewport.width / 2, viewport.height / 2, what === 'middle' ? 'middle' : 'left')
}

/** Runs the attempts in a few tabs, each used for one page load after another. */
async function inTabs(
  tabs: number,
  browser: Browser,
  target: Target,
  attempts: Attempt[],
  how: Parameters<typeof runAttempt>[3],
): Promise<void> {
  const queue = [...attempts]
  const worker = async (): Promise<void> => {
    let tab = await browser.open()
    for (let attempt = queue.shift(); attempt; attempt = queue.shift()) {
      // A page that crashes its tab is tried again in a new one.
      for (let tries = 0; tries < 2; tries += 1) {
        const whole = await runAttempt(tab, target, attempt, how).then(
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

/** Runs all attempts, closes the browser and returns the log of its resolver. */
async function runAll(
  browser: Browser,
  target: Target,
  attempts: Attempt[],
  { isCopy }: Where,
): Promise<string> {
  try {
    const watcher = await browser.open()
    await watcher.goto(`${target.origin}/watch`)
    const how = { probe: openProbe(watcher, target.origin), isCopy }
    await inTabs(tabsAtOnce[browser.name], browser, target, attempts, how)
    // Failed attempts get a second try, because a busy machine or a background tab can delay them.
    const left = attempts.filter((attempt) =>
      attempt.guarded ? !attempt.ran : attempt.vector.by !== 'lookup' && !reached(attempt, target),
    )
    await inTabs(1, browser, target, left, how)
  } finally {
    await browser.close()
  }
  return browser.lookups()
}

/** Stores an app with a library that no other page uses, and returns the SHA-256 of its file. */
async function putOtherApp(hosted: MemoryAppSource): Promise<string> {
  const id = idOf('other')
  hosted.put(id, `<script src="https://${cdnHost}/npm/dayjs@1.11.23/dayjs.min.js"></script>`)
  const [file] = (await hosted.putLibraries(id)).files
  if (!file) throw new Error('the store has no dayjs')
  return file.sha256
}

/**
 * Runs every vector that works in this browser in the sandbox, and those that `hasControl` selects
 * unprotected as well.
 */
export async function runVectors(
  browser: Browser,
  vectors: Vector[],
  hasControl: (vector: Vector) => boolean,
  where: Where = {},
): Promise<Outcome[]> {
  const hosted = new MemoryAppSource()
  const gone = ({ url }: Request): Response | undefined =>
    appPath.test(new URL(url).pathname) ? new Response('', { status: 503 }) : undefined
  const options = { ...where, ...(where.isCopy && { handle: gone }) }
  const target = openTarget(hosted, browser.name, options)
  const live = vectors.filter(
    ({ live, isSecureOnly }) =>
      (live === undefined || live.includes(browser.name)) &&
      !(isSecureOnly && where.place === 'lan'),
  )
  const attempts: Attempt[] = []
  for (const [index, vector] of live.entries()) {
    for (const guarded of hasControl(vector) ? [false, true] : [true]) {
      const mark = `${index}${guarded ? 'g' : 'c'}`
      const start = { ran: false, isReported: false, native: false }
      attempts.push({ vector, mark, guarded, canary: await openCanary(), ...start })
    }
  }
  hosted.put(probeId, probePage)
  const library = `${target.origin}${librariesPath}${await putOtherApp(hosted)}`
  for (const attempt of attempts) {
    await putPage(hosted, attempt, addressesOf(attempt, target, library))
  }

  const lookups = await runAll(browser, target, attempts, where).finally(() => {
    for (const { canary } of attempts) canary.close()
    target.close()
  })
  const through = (attempt: Attempt): boolean =>
    reached(attempt, target) ||
    lookups.includes(nameOf(attempt.mark)) ||
    // All pages with libraries share the CDN, so that one lookup fails all of them.
    (attempt.guarded && attempt.vector.libraries !== undefined && lookups.includes(cdnHost))
  const controls = new Map(
    attempts.flatMap((one) => (one.guarded ? [] : [[one.vector, through(one)]])),
  )
  return attempts
    .filter(({ guarded }) => guarded)
    .map((one) => ({
      vector: one.vector,
      control: controls.get(one.vector),
      ran: one.ran,
      reached: through(one),
    }))
}

/** A port on the loopback address, TCP and UDP, that records any contact. */
interface Canary {
  port: number
  connected: boolean
  datagram: boolean
  close(): void
}

const response =
  'HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n' +
  'Content-Length: 2\r\nConnection: close\r\n\r\n{}'

/** An open connection counts as contact, because preconnect sends no data. */
async function openCanary(): Promise<Canary> {
  const canary: Canary = { port: 0, connected: false, datagram: false, close: () => undefined }
  const tcp = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (canary.connected = true),
      data(socket) {
        socket.end(response)
      },
      error: () => undefined,
    },
  })
  // The same number can be taken for UDP. Another port is tried then.
  const udp = await Bun.udpSocket({
    hostname: '127.0.0.1',
    port: tcp.port,
    socket: { data: () => void (canary.datagram = true) },
  }).catch(() => undefined)
  if (!udp) {
    tcp.stop(true)
    return openCanary()
  }
  canary.port = tcp.port
  canary.close = () => {
    tcp.stop(true)
    udp.close()
  }
  return canary
}
