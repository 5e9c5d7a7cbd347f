import {
  type DialogLabels,
  type Down,
  field,
  isLibraries,
  type Libraries,
  type Mode,
  type OwnFiles,
  type Run,
  type Saved,
  type Surroundings,
  text,
} from './messages.ts'
import { handDownFocus, nest } from './nest.ts'
import { isQuirky, quirkless } from './quirks-text.ts'
import { receivedOf } from './received.ts'
import { opened, renamed, styled } from './renamed.ts'
import {
  countLines,
  findFirstScript,
  withEncodedScripts,
  withFragments,
  withLines,
} from './scripts-text.ts'

/**
 * The wrapper: the same bytes for every app, in one form for pages with files and in one for all
 * others. It puts the boot script before the app's HTML, which the shell sends, and runs it in its
 * own document or in a srcdoc frame.
 */
const shell = window.parent
// Detect the engine by a feature, since the user agent can be changed.
const gecko = CSS.supports('-moz-appearance', 'none')
const webkit = CSS.supports('-webkit-nbsp-mode', 'space')
const engine = /Chrom(?:e|ium)\/(\d+)/.exec(navigator.userAgent)
const isOne = !gecko && !webkit && ('chrome' in window || 'navigation' in window)
const chromium = isOne ? Number(engine?.[1] ?? 0) : 0
// A host of chats gets the wrapper as text, without the headers of its policy.
const hasHeaders = location.protocol !== 'about:'
// Chromium enforces Connection-Allowlist since 152. All other browsers need the fallback.
const needsFallback = chromium < 152 || !hasHeaders
// The number of frames from this one to that of the app. Firefox loads no frame deeper than 9,
// WebKit no srcdoc inside two srcdocs. At that depth the app cannot create a frame, and so no new
// realm with its own RTCPeerConnection. Pages around the shell count in Firefox. Where
// Connection-Allowlist holds, this document becomes that of the app.
const depth = !needsFallback ? 0 : gecko ? 9 - pagesAbove() : webkit ? 2 : 1
/** Returns the number of frames around this one: 1 where the shell is the whole page. */
function pagesAbove(): number {
  let count = 0
  for (let at: Window = window; at !== at.parent; at = at.parent) count += 1
  return Math.min(count, 8)
}
/** Reads a text that scripts/build-public.ts embeds in this page. */
const own = (name: string): string => document.getElementById(name)?.textContent ?? ''
/**
 * The end of the tag of the boot script, with its text. This document loads it instead, so that the
 * parser returns from write() before the page. Its scripts then run without a caller: microtasks
 * run after each of them, and none is in an event.
 */
const boot = depth > 0 ? `>${own('boot')}` : ` src=${URL.createObjectURL(new Blob([own('boot')]))}>`
const style = `<style>${document.querySelector('style')?.textContent}</style>`
const relay = `<!doctype html>${style}<body><script>${own('relay')}</script>`
const trusted =
  '<meta http-equiv=x-dns-prefetch-control content=off>' +
  `<meta http-equiv=Content-Security-Policy content="require-trusted-types-for 'script'; trusted-types default">`

/** Escapes JSON for an attribute in single quotes. */
const quoted = (run: Run): string =>
  JSON.stringify(run).replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;')

/** The part of the wrapper that is for pages with files. */
export interface FilesDress {
  /** Reads the files of a start message; undefined where it has none. */
  read(message: unknown): OwnFiles | undefined
  /** Prepares the HTML of the page, and returns the element that its document starts with. */
  dress(
    html: string,
    files: OwnFiles,
    options: { needsFallback: boolean; hasLoader: boolean },
  ): { html: string; base: string; isMapped: boolean }
}

/**
 * Builds the app's document: the boot script first; in the fallback, dangerous elements renamed.
 */
function dress(
  given: string,
  run: Run,
  libraries: Libraries | undefined,
  withFiles: FilesDress | undefined,
): string {
  const { files } = run
  const hasLoader = libraries !== undefined && libraries.loader !== ''
  const { html, base, ...facts } = (files &&
    withFiles?.dress(given, files, { needsFallback, hasLoader })) ?? {
    html: given,
    base: '',
    isMapped: false,
  }
  const rest = afterBoot(html, run, libraries)
  const isCopy = files?.contents !== undefined
  const started = { ...run, files: files && { ...files, ...facts, ...(isCopy && { rest }) } }
  const tag = `<script data-run='${quoted(started)}'${boot}</script>`
  return (needsFallback ? trusted : '') + base + tag + (isCopy ? '' : rest)
}

/** Returns the app's document after the boot script. */
function afterBoot(html: string, { run, files }: Run, libraries: Libraries | undefined): string {
  if (!libraries) return secure(html)
  const { loader, script, ...rest } = libraries
  const more = script === '' ? '' : `<script data-depth=${depth} data-run=${run}>${script}</script>`
  if (loader === '') return more + secure(html)
  const where = { address: files?.address ?? '', own: files?.names ?? [] }
  const page = { ...rest, html: secure(html), needsFallback, ...where }
  const data = JSON.stringify(page).replaceAll('<', '\\u003c')
  return `${more}<script type=text>${data}</script><script>${loader}</script>`
}

/** Renames dangerous elements in the fallback, after all other changes to the text. */
function secure(html: string): string {
  if (!needsFallback) return html
  return [...opened, ...renamed].reduce(
    (text, [pattern, by]) => text.replace(pattern, by),
    styled(withEncodedScripts(html)),
  )
}

/** Returns the libraries of a start message. The shell has built them. */
const librariesIn = (data: unknown): Libraries | undefined => {
  const libraries = field(data, 'libraries')
  return isLibraries(libraries) && (libraries.loader !== '' || libraries.script !== '')
    ? libraries
    : undefined
}

const saved = (data: unknown, name: string): Saved => {
  const entries = field(data, name)
  return Array.isArray(entries) ? entries : []
}

const labelCharsMax = 40

/** Returns the labels of dialogs of a start message. */
const labelsIn = (data: unknown): DialogLabels => ({
  ok: text(data, 'ok', labelCharsMax),
  cancel: text(data, 'cancel', labelCharsMax),
})

function surroundingsIn(data: unknown): Surroundings | undefined {
  return data === undefined ? undefined : { locale: text(data, 'locale', 100) }
}

function sendMode(): void {
  const mode: Mode = { type: 'mode', depth }
  shell.postMessage(mode, '*')
}

async function start(
  data: unknown,
  given: string,
  withFiles: FilesDress | undefined,
): Promise<void> {
  // In a hidden tab Firefox sizes new frames 10 x 10, and games read their size once.
  if (document.hidden) {
    await new Promise((shown) => addEventListener('visibilitychange', shown, { once: true }))
  }
  const text = withFragments(given.replace(/^\uFEFF+/, ''))
  const page = depth > 0 ? text : withLines(text)
  const isQuirks = isQuirky(page)
  // A written document has a quirks mode of its own.
  const quirks = isQuirks && depth > 0
  const libraries = librariesIn(data)
  const run: Run = {
    run: Number(field(data, 'run')),
    depth,
    needsFallback,
    quirks,
    local: saved(data, 'local'),
    session: saved(data, 'session'),
    answers: saved(data, 'answers'),
    isMuted: field(data, 'isMuted') === true,
    labels: labelsIn(field(data, 'labels')),
    surroundings: surroundingsIn(field(data, 'surroundings')),
    linesAbove: depth > 0 ? countLines(boot + (libraries?.script ?? '')) : 0,
    firstScript: webkit ? findFirstScript(page) : undefined,
    files: withFiles?.read(data),
    received: receivedOf(data),
  }
  const html = dress(quirks ? quirkless(page) : page, run, libraries, withFiles)
  if (depth === 0) return become(isQuirks ? html : `<!doctype html>${html}`)
  if (depth === 1) {
    nest(html)
    return
  }
  const frame = nest(relay)
  const down: Down = { type: 'down', relays: Array(depth - 2).fill(relay), html }
  addEventListener('message', function pass(reply) {
    if (reply.source !== frame.contentWindow || field(reply.data, 'type') !== 'ready') return
    removeEventListener('message', pass)
    frame.contentWindow?.postMessage(down, '*')
  })
}

/** Replaces this document. It keeps its policies, and loses its listeners. */
function become(html: string): void {
  document.open()
  document.write(html)
  document.close()
}

/** Runs the wrapper. `withFiles` is for pages with files. */
export function wrap(withFiles?: FilesDress): void {
  addEventListener('message', ({ source, data, ports: [port] }) => {
    if (source !== shell) return
    // A port that has started lives as long as this window.
    port?.start()
    const html = field(data, 'html')
    if (field(data, 'type') === 'ask') sendMode()
    else if (field(data, 'type') === 'start' && typeof html === 'string') {
      void start(data, html, withFiles)
    }
  })
  handDownFocus()
  sendMode()
}
