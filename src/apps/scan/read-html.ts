import { Tokenizer } from 'htmlparser2'

import { plain } from '../../kernel/forbidden-text.ts'
import { lookUp } from '../../kernel/schema.ts'
import { fromBase64, fromPercent } from './fold.ts'
import { isRemote, type Page, type Trigger } from './page.ts'
import { isPress } from './presses.ts'
import { type Reading, readStyle } from './reading.ts'

const attributeMax = 200_000
const roleDepthMax = 64
const textMax = 4 * 1024 * 1024

/** Attributes that a rule or the sandbox uses. All others are skipped. */
const readAttributes = new Set(
  (
    'type name id placeholder aria-label autocomplete title value class src href alt for ' +
    'action formaction srcdoc content http-equiv rel download data poster form readonly integrity ' +
    'disabled data-assets srcset style xlink:href background'
  ).split(' '),
)

const inline = new Set(
  (
    'b i em strong span a font u small s mark wbr big tt sup sub code bdi bdo kbd q abbr cite ' +
    'var'
  ).split(' '),
)
const rawText = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'noembed',
  'noframes',
  'iframe',
  'plaintext',
])

/**
 * Reads a piece of HTML into the page's facts with htmlparser2's tokenizer. It builds no tree, so
 * it is linear at any depth. `place` maps an offset of this piece to one of the page.
 */
export function readHtml(html: string, reading: Reading): void {
  const tokenizer = new Tokenizer({ decodeEntities: true }, new HtmlReader(html, reading))
  tokenizer.write(html)
  tokenizer.end()
}

/** Callbacks of the tokenizer. They collect a tag's attributes, and text up to the next block. */
class HtmlReader {
  private tag = ''
  private tagStart = 0
  private attributes = new Map<string, string>()
  private attribute = ''
  private value: string[] = []
  private raw = ''
  private text: string[] = []
  private textSize = 0
  private textStart = -1
  private readonly roles: { tag: string; role: 'heading' | 'control' }[] = []

  constructor(
    private readonly html: string,
    private readonly reading: Reading,
  ) {}

  onopentagname(start: number, end: number) {
    this.tag = this.html.slice(start, end).toLowerCase()
    this.tagStart = start - 1
    this.attributes = new Map()
  }

  onattribname(start: number, end: number) {
    const short = end - start <= 40 ? this.html.slice(start, end).toLowerCase() : ''
    const care = readAttributes.has(short) || short.startsWith('on')
    this.attribute = care && !this.attributes.has(short) ? short : ''
    this.value = []
  }

  onattribdata(start: number, end: number) {
    if (this.attribute) this.value.push(this.html.slice(start, end))
  }

  onattribentity(code: number) {
    if (this.attribute) this.value.push(String.fromCodePoint(code))
  }

  onattribend() {
    if (this.attribute && this.attributes.size < attributeMax)
      this.attributes.set(this.attribute, this.value.join(''))
    this.attribute = ''
  }

  onopentagend() {
    if (!inline.has(this.tag)) this.flush()
    const role = readElement(this.tag, this.attributes, this.tagStart, this.reading)
    if (role && this.roles.length < roleDepthMax) this.roles.push({ tag: this.tag, role })
    this.raw = rawText.has(this.tag) ? this.tag : ''
  }

  onselfclosingtag() {
    this.onopentagend()
    this.raw = ''
  }

  onclosetag(start: number, end: number) {
    const tag = this.html.slice(start, Math.min(end, start + 20)).toLowerCase()
    if (!inline.has(tag) || this.roles.at(-1)?.tag === tag) this.flush()
    const open = this.roles.findLastIndex((role) => role.tag === tag)
    if (open !== -1) this.roles.length = open
    if (tag === 'form') this.reading.form = -1
    this.raw = ''
  }

  ontext(start: number, end: number) {
    if (this.textStart === -1) this.textStart = start
    this.add(this.html.slice(start, end))
  }

  ontextentity(code: number, end: number) {
    if (this.textStart === -1) this.textStart = Math.max(0, end - 1)
    this.add(String.fromCodePoint(code))
  }

  oncdata(start: number, end: number) {
    this.ontext(start, end)
  }

  oncomment() {}
  ondeclaration() {}
  onprocessinginstruction() {}

  onend() {
    this.flush()
  }

  private add(text: string) {
    if (this.textSize < textMax) this.text.push(text)
    this.textSize += text.length
  }

  private flush() {
    if (this.textStart === -1) return
    const text = this.text.join('')
    const { reading } = this
    const start = this.textStart
    this.text = []
    this.textSize = 0
    this.textStart = -1
    if (this.raw === 'script') return reading.script(text, this.attributes, start)
    if (this.raw === 'style') return readStyle(text, start, reading)
    if (this.raw === 'title') reading.page.title ??= text
    if (this.raw && this.raw !== 'title' && this.raw !== 'textarea')
      return reading.html(text, start)
    const role = this.raw === 'title' ? 'title' : (this.roles.at(-1)?.role ?? 'text')
    reading.run(text, start, role)
  }
}

const headingTags = new Set(['h1', 'h2', 'h3', 'legend', 'caption'])
const controlTags = new Set(['button', 'label', 'summary', 'th'])
const headingClass = /(?:^|[\s_-])(?:title|heading|headline|header|logo|brand)(?:$|[\s_-])/i
const controlClass = /(?:^|[\s_-])(?:btn|button)(?:$|[\s_-])/i
const notTyped = new Set(
  'hidden submit button checkbox radio range color image reset file'.split(' '),
)

/** Attributes that load a resource, by tag. Links depend on their `rel`. */
const loads: Record<string, readonly string[]> = {
  script: ['src', 'href', 'xlink:href'],
  img: ['src', 'srcset'],
  audio: ['src'],
  video: ['src', 'poster'],
  source: ['src', 'srcset'],
  track: ['src'],
  embed: ['src'],
  object: ['data'],
  iframe: ['src'],
  frame: ['src'],
  image: ['href', 'xlink:href'],
  use: ['href', 'xlink:href'],
  body: ['background'],
  input: ['src'],
}

type Attributes = ReadonlyMap<string, string>

/** Adds the facts of a start tag. Returns the role of the text inside it. */
function readElement(
  tag: string,
  attributes: Attributes,
  offset: number,
  reading: Reading,
): 'heading' | 'control' | undefined {
  const { page } = reading
  const at = reading.place(offset)
  if (tag === 'form') readForm(attributes, at, reading)
  else if (tag === 'input' || tag === 'textarea') readField(tag, attributes, at, reading)
  else if (tag === 'canvas') page.canvas = true
  else if (tag === 'iframe') readFrame(attributes, at, reading)
  else if (tag === 'meta') readMeta(attributes, at, page)
  else if (tag === 'a' || tag === 'area') readLink(attributes, at, page)
  const formAction = attributes.get('formaction')
  if (formAction) page.forms.push({ id: '', action: formAction, at, button: true })
  readLoads(tag, attributes, at, page)
  readInside(tag, attributes, offset, reading)
  if (headingTags.has(tag)) return 'heading'
  if (controlTags.has(tag)) return 'control'
  const names = `${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`.slice(0, 200)
  if (names.length < 2) return undefined
  if (headingClass.test(names)) return 'heading'
  return controlClass.test(names) ? 'control' : undefined
}

/** Records a frame without a URL. Text that only mentions one has no `srcdoc`. */
function readFrame(attributes: Attributes, at: number, { page, depth }: Reading): void {
  const isOwn = !attributes.get('src') && (depth === 0 || attributes.has('srcdoc'))
  if (isOwn) page.frames.push(at)
}

function readForm(attributes: Attributes, at: number, reading: Reading): void {
  reading.form = reading.page.forms.length
  const action = attributes.get('action') ?? ''
  const id = attributes.get('id') ?? ''
  reading.page.forms.push({ id, action: action.trim(), at, button: false })
}

const ownNames = ['name', 'id', 'placeholder', 'aria-label', 'autocomplete', 'title', 'class']

function readField(tag: string, attributes: Attributes, at: number, reading: Reading): void {
  const { page } = reading
  const type =
    tag === 'textarea' ? 'textarea' : (attributes.get('type') ?? 'text').trim().toLowerCase()
  const value = attributes.get('value') ?? ''
  if (type === 'submit' || type === 'button')
    page.runs.push({ text: value.slice(0, 200), at, role: 'control' })
  for (const name of ['placeholder', 'aria-label']) {
    const text = attributes.get(name)
    if (text) page.runs.push({ text: text.slice(0, 500), at, role: 'control' })
  }
  if (notTyped.has(type) || attributes.has('readonly') || attributes.has('disabled')) return
  const own = ownNames.map((name) => (attributes.get(name) ?? '').slice(0, 200)).join(' ')
  const formId = attributes.get('form')
  const form = formId ? page.forms.findLastIndex((row) => row.id === formId) : reading.form
  page.fields.push({ type, own: plain(own), near: reading.near, after: '', form, at })
  reading.near = ''
}

function readMeta(attributes: Attributes, at: number, page: Page): void {
  if ((attributes.get('http-equiv') ?? '').trim().toLowerCase() !== 'refresh') return
  const url = /url\s{0,5}=\s{0,5}["']?([^"']{1,2000})/i.exec(
    (attributes.get('content') ?? '').slice(0, 2000),
  )?.[1]
  if (url) page.refreshes.push({ url: url.trim(), at })
}

function readLink(attributes: Attributes, at: number, page: Page): void {
  const url = attributes.get('href') ?? ''
  const name = attributes.get('download')
  if (name !== undefined) page.downloads.push({ name, url: url.slice(0, 2000), at })
  if (isRemote(url)) page.links.push({ id: attributes.get('id') ?? '', at })
  if (/^\s*data:/i.test(url.slice(0, 20))) page.addresses.push({ use: 'a', url, at })
}

function readLoads(tag: string, attributes: Attributes, at: number, page: Page): void {
  for (const name of lookUp(loads, tag) ?? []) {
    const url = attributes.get(name)?.trim()
    if (url)
      page.addresses.push({
        use: tag,
        url: name === 'srcset' ? (url.split(/\s/, 1)[0] ?? '') : url,
        at,
        ...(tag === 'script' && {
          isModule: /^\s*module\s*$/i.test(attributes.get('type') ?? ''),
          integrity: attributes.get('integrity'),
        }),
      })
  }
  if (tag === 'link' && /stylesheet|preload|modulepreload/i.test(attributes.get('rel') ?? ''))
    page.addresses.push({
      use: 'link',
      url: (attributes.get('href') ?? '').trim(),
      at,
      integrity: attributes.get('integrity'),
    })
  if (tag === 'img' || tag === 'image') {
    const source = attributes.get('src') ?? ''
    const alt = attributes.get('alt')
    if (alt) page.runs.push({ text: alt.slice(0, 200), at, role: 'heading' })
    if (source && !source.startsWith('data:')) {
      const words = source.slice(0, 300).replace(/[^\p{L}\d.]+/gu, ' ')
      page.runs.push({ text: words, at, role: /logo/i.test(source) ? 'heading' : 'text' })
    }
  }
}

const dataPage = /^\s*data:([\w/+.-]{0,60})[^,]{0,60}?(;base64)?,/i

/** Reads content in attributes: handlers, javascript: and data: URLs, srcdoc, styles. */
function readInside(tag: string, attributes: Attributes, offset: number, reading: Reading): void {
  for (const [name, value] of attributes) {
    if (!value) continue
    if (name.startsWith('on')) reading.code(value, offset, triggerOf(tag, name.slice(2)))
    else if (name === 'srcdoc') reading.html(value, offset)
    else if (name === 'style' && value.includes('('))
      readStyle(value, offset, constant(reading, offset))
    else if (/^\s*javascript:/i.test(value.slice(0, 40)))
      reading.code(
        value.slice(value.indexOf(':') + 1),
        offset,
        lookUp(loads, tag) ? 'event' : 'press',
      )
    else if (/^\s*data:/i.test(value.slice(0, 40))) readData(value, offset, reading)
  }
}

function triggerOf(tag: string, event: string): Trigger {
  return isPress(event, tag === 'body' || tag === 'html') ? 'press' : 'event'
}

/** Returns a reading with a fixed offset: entities shift the offsets inside an attribute. */
function constant(reading: Reading, offset: number): Reading {
  return { ...reading, place: () => reading.place(offset) }
}

/** Reads pages and scripts in a data: URL. */
function readData(url: string, offset: number, reading: Reading): void {
  const head = dataPage.exec(url.slice(0, 200))
  if (!head || !/html|xml|javascript/i.test(head[1] ?? '')) return
  const body = url.slice(head[0].length)
  const text = head[2] ? fromBase64(body) : fromPercent(body)
  if (text === undefined) return
  if (head[2]) reading.page.decodedAt.add(reading.place(offset))
  if (/javascript/i.test(head[1] ?? '')) reading.code(text, offset)
  else reading.html(text, offset)
}
