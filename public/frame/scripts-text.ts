/** Changes to the scripts in a page's text, before the page becomes a document. */
import type { FirstScript } from './messages.ts'
import { renamed } from './renamed.ts'

const attributes = `(?:[^>"']|"[^"]*"|'[^']*')*`
const scripts = new RegExp(`(<script\\b)(${attributes})>([^]*?)(?=</script|$)`, 'gi')
const handlers = /(<[a-z][^<>]*?\son[a-z]+\s*=\s*)("[^"]*"|'[^']*')/gi
const type = /\stype\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
/** Types of scripts that run. */
export const isScript =
  /^(?:|module|(?:text|application)\/(?:x-)?(?:javascript|ecmascript)(?:;[^"'<>]*)?)$/i
const hasSource = /\ssrc\s*=/i
const timing = /\s(?:async|defer)\b(?!-)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?/gi

/**
 * Assignments of a fragment to the URL. In a srcdoc they would leave the page, since its links
 * resolve against the URL of the wrapper, and location cannot be replaced.
 */
const fragments: readonly (readonly [RegExp, string])[] = [
  [/\blocation\.href(\s*=\s*)(?=['"`]#)/g, 'location.hash$1'],
  [/\b(window|document|self)\.location(\s*=\s*)(?=['"`]#)/g, '$1.location.hash$2'],
  [/(?<![\w$.]|\b(?:let|const|var)\s+)location(\s*=\s*)(?=['"`]#)/g, 'location.hash$1'],
  [/(?:\b(?:window|document|self)\.)?\blocation\.(?:assign|replace)\((?=\s*['"`]#)/g, 'goToHash('],
]

const keepInside = (code: string): string =>
  code.includes('location')
    ? fragments.reduce((text, [pattern, by]) => text.replace(pattern, by), code)
    : code

/** Returns the page with `location.href = '#a'` written as `location.hash = '#a'`. */
export const withFragments = (html: string): string =>
  /location[^]{0,40}#/.test(html)
    ? html
        .replace(
          scripts,
          (_, start: string, inside: string, code: string) =>
            `${start}${inside}>${keepInside(code)}`,
        )
        .replace(handlers, (_, start: string, code: string) => start + keepInside(code))
    : html

/** Returns text as UTF-8 in base64. */
function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return btoa(binary)
}

/** Returns the type of a script that has its code inside; undefined where that is no code. */
function typeOf(inside: string): string | undefined {
  const found = type.exec(inside)
  const kind = (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim()
  return isScript.test(kind) && !hasSource.test(inside) ? kind : undefined
}

export const countLines = (text: string): number => text.split('\n').length - 1

/** Returns the first script of a page that is no module and has its code inside. */
export function findFirstScript(html: string): FirstScript | undefined {
  for (const { 0: whole, 2: inside = '', 3: code = '', index } of html.matchAll(scripts)) {
    const kind = typeOf(inside)
    if (kind === undefined || kind === 'module') continue
    const line = countLines(html.slice(0, index + whole.length - code.length))
    return { line, length: code.replaceAll('\r\n', '\n').length }
  }
  return undefined
}

const linesAddedMax = 1e6

/**
 * Returns the page with as many empty lines before the code of a script as it has lines above it:
 * in a written document the lines of each script count from its start.
 */
export function withLines(html: string): string {
  let [from, lines, added] = [0, 0, 0]
  return html.replace(scripts, (whole, start: string, inside: string, code: string, at: number) => {
    const begin = at + whole.length - code.length
    lines += countLines(html.slice(from, begin))
    from = begin
    added += lines
    const isMoved = added < linesAddedMax && typeOf(inside) !== undefined
    return isMoved ? `${start}${inside}>${'\n'.repeat(lines)}${code}` : whole
  })
}

/**
 * Moves scripts whose text names dangerous elements into data: URLs, so that renaming does not
 * change them. Base64 holds no markup, so a text that only looks like a script is not parsed.
 */
export const withEncodedScripts = (html: string): string =>
  html.replace(scripts, (whole, start: string, inside: string, code: string) => {
    const isSafe = !renamed.some(([pattern]) => code.search(pattern) >= 0)
    const kind = typeOf(inside)
    if (isSafe || kind === undefined) return whole
    // An inline script runs in its place, whatever these say. A module heeds async.
    const rest = kind === 'module' ? inside : inside.replace(timing, '')
    return `${start}${rest} src="data:text/javascript;charset=utf-8;base64,${toBase64(code)}">`
  })
