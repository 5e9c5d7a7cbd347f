/**
 * Divides the markup of a template into messages. A run of text with its inline elements is one
 * message, such as "Read <a>the guide</a>, by {0}". Attributes that people read are messages too.
 */

/** The texts of a template in another language, with the numbers of the parts between them. */
export type TranslatedTemplate = readonly (string | number)[]

interface Element {
  kind: 'element'
  name: string
  open: string
  close: string
  children: Node[]
}

interface Text {
  kind: 'text'
  source: string
}

type Node = Element | Text

/** Elements inside a sentence. All others end a message. */
const inline = new Set(
  'a abbr b bdi br cite code em i img input kbd mark output q s samp small span strong sub sup svg time var'.split(
    ' ',
  ),
)
const empty = new Set('br col hr img input link meta source track wbr path circle rect'.split(' '))
/** Elements whose content is no text of a message. */
const opaque = new Set('script style pre svg textarea code kbd samp'.split(' '))

const readAttributes =
  /(\s(?:aria-label|aria-description|title|alt|placeholder|data-label|data-confirm)=")([^"]*)(?=")/g

/** Parts are characters of a private plane while a template is divided: U+E000 is the first. */
const firstPart = 0xe000
const partPattern = /[\ue000-\uf8ff]/g
const numberOf = (mark: string): number => mark.charCodeAt(0) - firstPart

const hasWords = (text: string): boolean => /\p{L}/u.test(decode(text.replace(partPattern, '')))

const entities = new Map(
  Object.entries({
    '&amp;': '&',
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&nbsp;': '\xa0',
    '&hellip;': '…',
  }),
)

const decode = (text: string): string =>
  text.replace(/&(?:#(\d+)|\w+);/g, (entity: string, code: string | undefined) =>
    code === undefined ? (entities.get(entity) ?? entity) : String.fromCodePoint(Number(code)),
  )

const tokenPattern = /<!(?:--.*?--|[^>]*)>|<(\/?)([a-z][\w-]*)(?:"[^"]*"|[^">])*>/gis

function parse(source: string): Node[] {
  const root: Element = { kind: 'element', name: '', open: '', close: '', children: [] }
  const path = [root]
  let end = 0
  const addText = (text: string): void => {
    if (text !== '') path.at(-1)?.children.push({ kind: 'text', source: text })
  }
  for (const match of source.matchAll(tokenPattern)) {
    const [tag, slash, name = ''] = match
    addText(source.slice(end, match.index))
    end = match.index + tag.length
    const parent = path.at(-1) ?? root
    if (slash === undefined || slash === '') {
      const element: Element = { kind: 'element', name, open: tag, close: '', children: [] }
      parent.children.push(element)
      if (slash !== undefined && !empty.has(name) && !tag.endsWith('/>')) path.push(element)
    } else if (parent.name === name) {
      parent.close = tag
      path.pop()
    } else addText(tag)
  }
  addText(source.slice(end))
  return root.children
}

/** A message with the tags that its translation names. */
interface Run {
  message: string
  tags: Map<string, string>
}

/** Returns the message of a run of text and inline elements. */
function messageOf(nodes: readonly Node[]): Run {
  const tags = new Map<string, string>()
  const uses = new Map<string, number>()
  const write = (node: Node): string => {
    if (node.kind === 'text')
      return decode(node.source).replace(partPattern, (mark) => `{${numberOf(mark)}}`)
    const use = (uses.get(node.name) ?? 0) + 1
    uses.set(node.name, use)
    const name = use === 1 ? node.name : `${node.name}${use}`
    if (node.close === '' || node.name === 'svg') {
      tags.set(`<${name}/>`, node.name === 'svg' ? sourceOf(node) : node.open)
      return `<${name}/>`
    }
    tags.set(`<${name}>`, node.open)
    tags.set(`</${name}>`, node.close)
    return `<${name}>${node.children.map(write).join('')}</${name}>`
  }
  return { message: nodes.map(write).join('').replace(/\s+/g, ' ').trim(), tags }
}

const sourceOf = (node: Node): string =>
  node.kind === 'text' ? node.source : node.open + node.children.map(sourceOf).join('') + node.close

/** Returns the translation of a message; undefined where there is none. */
type Find = (message: string) => string | undefined

const escapeText = (text: string): string =>
  Bun.escapeHTML(text).replace(/\{(\d+)\}/g, (_, at: string) =>
    String.fromCharCode(firstPart + Number(at)),
  )

function translateAttributes(tag: string, find: Find): string {
  return tag.replace(readAttributes, (whole, start: string, value: string) => {
    if (!hasWords(value)) return whole
    const message = decode(value).replace(partPattern, (mark) => `{${numberOf(mark)}}`)
    const found = find(message.replace(/\s+/g, ' ').trim())
    return found === undefined ? whole : start + escapeText(found)
  })
}

function translateRun(nodes: readonly Node[], find: Find): string {
  if (nodes.some((node) => node.kind === 'text' && hasWords(node.source))) {
    const { message, tags } = messageOf(nodes)
    const found = find(message)
    const [start = '', finish = ''] = [/^\s*/, /\s*$/].map(
      (edge) => edge.exec(nodes.map(sourceOf).join(''))?.[0],
    )
    if (found === undefined) return nodes.map((node) => withAttributes(node, find)).join('')
    const text = found.split(/(<\/?\w+\/?>)/).map((piece) => {
      const tag = tags.get(piece)
      return tag === undefined ? escapeText(piece) : translateAttributes(tag, find)
    })
    return start + text.join('') + finish
  }
  return nodes.map((node) => translateNode(node, find)).join('')
}

/** Returns the source of a node in a message without a translation; its attributes may have one. */
const withAttributes = (node: Node, find: Find): string =>
  node.kind === 'text'
    ? node.source
    : translateAttributes(node.open, find) +
      node.children.map((child) => withAttributes(child, find)).join('') +
      node.close

function translateNode(node: Node, find: Find): string {
  if (node.kind === 'text') return node.source
  const open = translateAttributes(node.open, find)
  if (opaque.has(node.name) || / translate="no"/.test(open))
    return open + node.children.map(sourceOf).join('') + node.close
  return open + translateAll(node.children, find) + node.close
}

function translateAll(nodes: readonly Node[], find: Find): string {
  let text = ''
  let run: Node[] = []
  const endRun = (): void => {
    text += translateRun(run, find)
    run = []
  }
  for (const node of nodes) {
    if (node.kind === 'text' || inline.has(node.name)) run.push(node)
    else {
      endRun()
      text += translateNode(node, find)
    }
  }
  endRun()
  return text
}

/** Attributes alone, which a template adds to an element. */
const attributesPattern =
  /^\s*[a-z-]+="|^\s*(?:required|checked|selected|hidden|open|disabled|autofocus|multiple|readonly|inert|popover|data-[a-z-]+)\s*$/

/** Returns a template in another language. `find` gets each message. */
export function translateTemplate(texts: readonly string[], find: Find): TranslatedTemplate {
  const source = texts.reduce(
    (all, text, at) => all + String.fromCharCode(firstPart + at - 1) + text,
  )
  const isAttributes = attributesPattern.test(source)
  const text = isAttributes
    ? translateAttributes(source.startsWith(' ') ? source : ` ${source}`, find)
    : translateAll(parse(source), find)
  return text
    .split(/([\ue000-\uf8ff])/)
    .map((piece, at) => (at % 2 === 0 ? piece : numberOf(piece)))
}
