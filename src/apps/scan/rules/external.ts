import type { Hit } from '../findings.ts'
import { isRemote, type Page, type Script } from '../page.ts'
import { CHUNK, NAME, TEXT } from '../tokens.ts'

const requestUses = new Set(
  (
    'fetch sendBeacon WebSocket EventSource importScripts import Worker open get post ajax src ' +
    'from FontFace'
  ).split(' '),
)
const inPage = /^(?:$|data:|blob:|about:|javascript:|#|\{\{|\$\{|<%)/i
const shownMax = 80
const isAsset = /\.(?:png|jpe?g|webp|gif|mp3|ogg|wav|json)$/i
const showsAssets = new Set(['img', 'image', 'audio'])

/** External resources, which do not load in the sandbox. One finding per URL. */
export function* external(page: Page): Generator<Hit> {
  const seen = new Set<string>()
  for (const { use, url, at } of page.addresses) {
    if (inPage.test(url.trim()) || use === 'a' || seen.has(url)) continue
    seen.add(url)
    yield { code: 'net.external', at, help: helpFor(url, use), url }
  }
  for (const { use, url, at } of page.requests) {
    if (!requestUses.has(use) || !isRemote(url) || seen.has(url)) continue
    seen.add(url)
    yield { code: 'net.external', at, help: helpFor(url, use), url }
  }
}

/** Returns the help for an external URL. Scripts, styles, fonts and services cannot be assets. */
function helpFor(url: string, use = ''): string {
  const shown = url.length > shownMax ? `${url.slice(0, shownMax)}…` : url
  const fix =
    showsAssets.has(use) || isAsset.test(url.split(/[?#]/, 1)[0] ?? '')
      ? 'inline it, or upload it as an asset and use service.assets.'
      : 'put its content into the page, or remove it. Only images, sounds and JSON can be assets.'
  return `${shown.split('?')[0]} does not load here: ${fix}`
}

const loaders = ['fetch', 'Worker', 'Audio', 'importScripts', 'import']
const within = /^(?:$|data:|blob:|about:|javascript:|#)/i
const fileName =
  /^[^\s<>]{1,200}\.(?:png|jpe?g|gif|webp|avif|svg|mp3|ogg|wav|m4a|mp4|webm|m?js|json)(?:[?#]\S{0,200})?$/i
const mapMax = 200_000
const foldersMax = 100

/** Files beside the page that scripts load. There are none: a page is one document. */
export function* ownFiles(page: Page): Generator<Hit> {
  const mapped = new Set<string>()
  const folders: string[] = []
  for (const { text, at } of page.importMaps)
    for (const [name, url] of entriesOf(text)) {
      mapped.add(name)
      if (name.endsWith('/') && folders.length < foldersMax) folders.push(name)
      if (!within.test(url)) yield hit(url, at)
    }
  const isMapped = (name: string): boolean =>
    mapped.has(name) || folders.some((key) => name.startsWith(key))
  for (const script of page.scripts)
    for (const { name, index } of namesIn(script))
      if (!within.test(name) && !isRemote(name) && !isMapped(name))
        yield hit(name, script.place(index))
}

const hit = (name: string, at: number): Hit => ({
  code: 'net.external',
  at,
  help: helpFor(name),
  url: name,
})

export function entriesOf(text: string): [string, string][] {
  try {
    const map: unknown = JSON.parse(text.slice(0, mapMax))
    const imports: unknown = typeof map === 'object' && map ? Reflect.get(map, 'imports') : {}
    return Object.entries(imports ?? {}).map(([name, url]) => [name, String(url).trim()])
  } catch {
    return []
  }
}

/** Finds literal URLs in loader calls. */
function* namesIn({ tokens }: Script): Generator<{ name: string; index: number }> {
  const { kinds, texts, find } = tokens
  const text = (index: number): string => (kinds[index] === TEXT ? (texts[index] ?? '').trim() : '')
  for (const loader of loaders)
    for (const index of find(loader)) {
      const own = texts[index - 1] === '.' && !/^(?:window|self)$/.test(texts[index - 2] ?? '')
      if (own || texts[index - 1] === 'function') continue
      const name = texts[index + 1] === '(' ? text(index + 2) : ''
      if (name !== '' && (loader !== 'Audio' || fileName.test(name))) yield { name, index }
      else if (loader === 'fetch' && isPath(tokens, index + 2))
        yield { name: texts[index + 3] ?? '', index }
      if (loader === 'import' && text(index + 1) !== '') yield { name: text(index + 1), index }
    }
  for (const index of find('from'))
    if (texts[index - 1] === '}' || kinds[index - 1] === NAME)
      if (text(index + 1) !== '' && isImport(tokens, index)) yield { name: text(index + 1), index }
  for (const index of find('src'))
    if (texts[index - 1] === '.' && texts[index + 1] === '=' && fileName.test(text(index + 2)))
      yield { name: text(index + 2), index }
}

/** Returns whether a template begins with a path: `/api/${id}`. */
function isPath({ kinds, texts }: Script['tokens'], index: number): boolean {
  return (
    texts[index] === '`' &&
    kinds[index + 1] === CHUNK &&
    /^\.{0,2}\/\w/.test(texts[index + 1] ?? '')
  )
}

const clauseMax = 100

/** Returns whether `from` ends an import or export clause. */
function isImport({ texts }: Script['tokens'], index: number): boolean {
  for (let at = index - 1; at >= 0 && index - at < clauseMax; at--) {
    if (texts[at] === 'import' || texts[at] === 'export') return true
    if (!/^(?:[{},*]|[\w$]+)$/.test(texts[at] ?? '')) return false
  }
  return false
}
