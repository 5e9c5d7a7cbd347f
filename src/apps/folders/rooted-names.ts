import { rewriteTags, type Tag } from './page-tags.ts'

/** Rewrites texts of a folder, and notes the names that it changed. */
export interface RootedNames {
  inHtml(html: string, name: string): string
  inCss(css: string, name: string): string
  /** The names as the folder wrote them, such as "/assets/index.js". */
  changed: Set<string>
}

const attribute =
  /(\s(?:src|href|poster|srcset|data|xlink:href|style)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi
const place = /(^|[\s,"'(=]|url\(\s*)\/(?!\/)([^\s,"'()<>\\]+)/gi
const cssPlace = /(url\(\s*["']?|@import\s+["'])\/(?!\/)([^\s"'()<>\\]+)/gi
const mapped = /(:\s*")\/(?!\/)([^"\\]+)(?=")/g

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/**
 * Makes the names of files relative that builds for the root of a host begin with a slash, such as
 * those of Vite with `base: "/"`. Only exact names of the folder change: a text that is like one
 * stays. Scripts stay as they are; the sandbox resolves their names.
 */
export function openRootedNames(names: ReadonlySet<string>): RootedNames {
  const changed = new Set<string>()
  /** Returns a replacer for a file at a depth of folders. */
  const relative = (name: string) => {
    const up = '../'.repeat(name.split('/').length - 1) || './'
    return (whole: string, before: string, reference: string): string => {
      const [path = ''] = reference.split(/[?#]/)
      if (!names.has(decoded(path))) return whole
      changed.add(`/${path}`)
      return `${before}${up}${reference}`
    }
  }
  const inCss = (css: string, name: string): string => css.replace(cssPlace, relative(name))
  const inTag = ({ name: tag, text, body }: Tag, name: string): string => {
    const opening = text.replace(attribute, (_, start: string, value: string) => {
      const replaced = /style\s*=\s*$/i.test(start)
        ? inCss(value, name)
        : value.replace(place, relative(name))
      return start + replaced
    })
    if (tag === 'style') return opening + inCss(body, name)
    const isMap = tag === 'script' && /\stype\s*=\s*["']?importmap/i.test(text)
    return opening + (isMap ? body.replace(mapped, relative(name)) : body)
  }
  const inHtml = (html: string, name: string): string =>
    rewriteTags(html, (tag) => inTag(tag, name))
  return { inHtml, inCss, changed }
}
