import { fileNameOf } from './page-names.ts'
import { rewriteTags, type Tag } from './page-tags.ts'

/** Rewrites texts of a folder, and notes the names that it changed. */
export interface RootedNames {
  inHtml(html: string, name: string): string
  inCss(css: string, name: string): string
  /** The names as the folder wrote them, such as "/assets/index.js". */
  changed: Set<string>
}

const attribute =
  /(\s(src|href|poster|(?:image)?srcset|data|xlink:href|style)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi
/** One URL, which may have spaces, and those of a set. */
const one = /^(["']?\s*)\/(?!\/)([^"'<>\\]+)/
const several = /(^["']?|[\s,])\/(?!\/)([^\s,"'<>\\]+)/g
const quotedInCss = /((?:url\(\s*|@import\s+)["'])\/(?!\/)([^"'\n<>\\]+)/gi
const bareInCss = /(url\(\s*)\/(?!\/)([^\s"'()<>\\]+)/gi
const mapped = /(:\s*")\/(?!\/)([^"\\]+)(?=")/g

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
      const [path = ''] = reference.trim().split(/[?#]/)
      if (!names.has(fileNameOf(path))) return whole
      changed.add(`/${path}`)
      return `${before}${up}${reference}`
    }
  }
  const inCss = (css: string, name: string): string =>
    css.replace(quotedInCss, relative(name)).replace(bareInCss, relative(name))
  const inTag = ({ name: tag, text, body }: Tag, name: string): string => {
    const opening = text.replace(attribute, (_, start: string, key: string, value: string) => {
      if (/^style$/i.test(key)) return start + inCss(value, name)
      return start + value.replace(/srcset$/i.test(key) ? several : one, relative(name))
    })
    if (tag === 'style') return opening + inCss(body, name)
    const isMap = tag === 'script' && /\stype\s*=\s*["']?importmap/i.test(text)
    return opening + (isMap ? body.replace(mapped, relative(name)) : body)
  }
  const inHtml = (html: string, name: string): string =>
    rewriteTags(html, (tag) => inTag(tag, name))
  return { inHtml, inCss, changed }
}
