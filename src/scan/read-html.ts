import { Tokenizer } from 'htmlparser2'

import { readElement } from './read-element.ts'
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
