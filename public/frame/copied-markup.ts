import { attributeOf, type Tag } from '../../src/apps/folders/page-tags.ts'
import { copiedNames, inStyle, placeholder } from './copied-names.ts'
import { field, type OwnFiles } from './messages.ts'

export const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

const loaders = /^(?:script|link|img|image|audio|video|source|track|input)$/
const reference = /(\s(?:src|href|xlink:href|poster)\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi
const candidates = /(\ssrcset\s*=\s*)(?:"([^"]*)"|'([^']*)')/gi
const integrity = /(\s)integrity(?=\s*=)/i

type Place = (url: string) => string | undefined

/** Returns a tag with its body, in a document whose URLs start at `base`. */
export type CopiedMarkup = (tag: Tag, base: string, style: string | undefined) => string

/** Returns entries of an import map with placeholders of files. A folder is all its files. */
function inEntries(map: unknown, contents: { name: string }[], place: Place) {
  const inEntry = ([key, target]: [string, unknown]): [string, unknown][] => {
    const url = String(target)
    if (!url.endsWith('/')) return [[key, place(url) ?? target]]
    const files = contents.flatMap(({ name }): [string, unknown][] => {
      // The end of its path below the folder, which may be in any folder above.
      const parts = name.split('/')
      for (let at = 0; at < parts.length; at += 1) {
        const end = parts.slice(at).join('/')
        const found = place(url + end)
        if (found !== undefined && found === place(`/${name}`)) return [[key + end, found]]
      }
      return []
    })
    return files.length > 0 ? files : [[key, target]]
  }
  return Object.fromEntries(Object.entries(Object(map)).flatMap(inEntry))
}

/** Returns the import map of a page with placeholders of its files. */
function inMap(
  map: string,
  contents: { name: string }[],
  place: Place,
  isIn: (name: string, scope: string) => boolean,
): string {
  try {
    const parsed: unknown = JSON.parse(map)
    const imports = inEntries(field(parsed, 'imports'), contents, place)
    // A module has a URL of its own, so a scope is that of each file in it. The longest one wins.
    const scopes: Record<string, object> = {}
    const given = Object.entries(Object(field(parsed, 'scopes')))
    for (const [scope, one] of given.toSorted(([a], [b]) => a.length - b.length)) {
      const entries = inEntries(one, contents, place)
      const inside = contents.flatMap(({ name }, at) => (isIn(name, scope) ? placeholder + at : []))
      for (const key of [scope, ...inside]) scopes[key] = { ...scopes[key], ...entries }
    }
    return JSON.stringify({ ...Object(parsed), imports, scopes }).replaceAll('<', '\\u003c')
  } catch {
    return map
  }
}

/**
 * Returns a function that replaces what the tags of a page load by placeholders of the files of its
 * copy. `style` is the style element in place of a link.
 */
export function openCopiedMarkup({ address, contents = [] }: OwnFiles): CopiedMarkup {
  const { find, isIn } = copiedNames({ address, contents })
  return (tag, base, style) => {
    const place: Place = (url) => {
      const found = find(unescaped(url.trim()), base)
      return found && placeholder + found.index + found.hash
    }
    const { name, body } = tag
    if (style !== undefined) return inStyle(style, place)
    if (name === 'style') return tag.text + inStyle(body, place)
    const isMap = name === 'script' && attributeOf(tag.text, 'type') === 'importmap'
    const isInside = (file: string, scope: string): boolean => isIn(file, scope, base)
    if (isMap) return tag.text + inMap(body, contents, place, isInside)
    const text = inStyle(tag.text, place)
    if (!loaders.test(name)) return text + body
    const loaded = text
      .replace(reference, (whole: string, start: string, ...given: (string | undefined)[]) => {
        const found = place(given.slice(0, 3).find((url) => url !== undefined) ?? '')
        return found === undefined ? whole : `${start}"${found}"`
      })
      .replace(candidates, (_, start: string, quoted?: string, single?: string) => {
        const urls = (quoted ?? single ?? '').split(',').map((one) => one.trim())
        return `${start}"${urls.map((one) => one.replace(/^\S+/, (url) => place(url) ?? url)).join(', ')}"`
      })
    // The text of a module changes with the names in it.
    return (loaded === text ? text : loaded.replace(integrity, '$1data-integrity')) + body
  }
}
