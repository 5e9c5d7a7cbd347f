import type { LibraryPage } from './messages.ts'

/** Scheme of the placeholders that the boot script replaces by blob: URLs. */
export const placeholder = 'berth-file:'

/** Placeholder of the text of a style sheet, which the fallback puts into a style element. */
export const sheetPlaceholder = 'berth-sheet:'

const attributes = `(?:[^>"']|"[^"]*"|'[^']*')*`
/** Comments, elements of raw text, and links, so that the text of a script stays as it is. */
const parts = new RegExp(
  `<!--[^]*?(?:-->|$)|<(script|style|textarea|title|xmp)\\b(${attributes})>([^]*?)(?=</\\1|$)|<(?:link|basefont x-off-link)\\b(${attributes})>`,
  'gi',
)
const attribute = (name: string): RegExp =>
  new RegExp(`(\\s${name}\\s*=\\s*)(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i')
const source = attribute('src')
const target = attribute('href')
const relation = attribute('rel')
/** Firefox loads no blob: URL by @import. */
const importedSheet = new RegExp(
  `@import\\s+(?:url\\(\\s*)?["']?${placeholder}(\\d+)["']?\\s*\\)?\\s*;`,
  'g',
)
const integrity = /(\s)integrity(?=\s*=)/i

const valueOf = (found: RegExpExecArray | null): string =>
  (found?.[2] ?? found?.[3] ?? found?.[4] ?? '').replace(/&(?:amp|#38|#x26);/gi, '&').trim()

/**
 * Replaces the URLs of libraries in a page's tags and styles by placeholders. The host has checked
 * integrity attributes, and rewritten files would fail them. In the fallback links are renamed, so
 * style sheets become style elements.
 */
export function markLibraries({ html, files, urls, needsFallback }: LibraryPage): string {
  const names = new Map(files.map(({ name }, at) => [name, at]))
  const places = new Map<string, string>()
  for (const [url, name] of urls) {
    const at = names.get(name)
    if (at !== undefined) places.set(url, placeholder + at)
  }
  const replaced = (tag: string, pattern: RegExp): string | undefined => {
    const place = places.get(valueOf(pattern.exec(tag)))
    if (place === undefined) return undefined
    return tag
      .replace(pattern, (_, start: string) => `${start}"${place}"`)
      .replace(integrity, '$1data-integrity')
  }
  const style = (css: string): string => {
    if (!/https?:|\/\//.test(css)) return css
    let text = css
    for (const [url, place] of places) text = text.replaceAll(url, place)
    return needsFallback
      ? text.replace(importedSheet, (_, at: string) => sheetPlaceholder + at)
      : text
  }
  const link = (whole: string, inside: string): string => {
    const marked = replaced(inside, target)
    if (marked === undefined) return whole
    if (!needsFallback) return `<link${marked}>`
    if (!/stylesheet/i.test(valueOf(relation.exec(marked)))) return whole
    const place = valueOf(target.exec(marked)).replace(placeholder, sheetPlaceholder)
    const rest = marked
      .replace(target, '')
      .replace(relation, '')
      .replace(/\/\s*$/, '')
    return `<style${rest}>${place}</style>`
  }
  return html.replace(
    parts,
    (whole: string, tag?: string, inside = '', body = '', linked?: string) => {
      if (linked !== undefined) return link(whole, linked)
      if (tag === undefined) return whole
      if (/^style$/i.test(tag)) return `<${tag}${inside}>${style(body)}`
      const marked = /^script$/i.test(tag) ? replaced(inside, source) : undefined
      return marked === undefined ? whole : `<${tag}${marked}>${body}`
    },
  )
}
