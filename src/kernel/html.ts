import { escapeHtml } from './text.ts'
import { Message } from './words/message.ts'
import { translateTemplate } from './words/template.ts'
import { currentWords, type Words } from './words/words.ts'

/** A template with the values of its parts. `isProse` is true for markup that stays English. */
interface Template {
  strings: TemplateStringsArray
  parts: readonly Part[]
  isProse: boolean
}

/**
 * Escaped HTML. Only `html` creates it. A template becomes text when its page is sent, in the
 * language of the page: constants of a module fit all of them.
 */
export class Html {
  constructor(private readonly source: string | Template) {}

  get text(): string {
    return typeof this.source === 'string' ? this.source : render(this.source)
  }
}

/** A value in a template. Undefined, null and false produce nothing. */
export type Part = string | number | Html | Message | false | null | undefined | readonly Part[]

function textOf(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part)
  if (part instanceof Html) return part.text
  if (part === undefined || part === null || part === false) return ''
  if (typeof part === 'number') return String(part)
  if (part instanceof Message) return escapeHtml(part.toString())
  let text = ''
  for (const one of part) text += textOf(one)
  return text
}

/** The texts of each template without the indentation of its source. */
const trimmed = new WeakMap<TemplateStringsArray, readonly string[]>()

function textsOf(strings: TemplateStringsArray): readonly string[] {
  const known = trimmed.get(strings)
  if (known) return known
  const texts = strings.map((text) => text.replace(/\n\s+/g, '\n'))
  trimmed.set(strings, texts)
  return texts
}

/**
 * Creates HTML from a template: html`<p>${words}</p>`. Texts are escaped for elements and quoted
 * attributes, so templates must quote every attribute. The markup itself is in English; in another
 * language, its messages come from the catalog (docs/decisions/0130).
 */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html({ strings, parts, isProse: false })

/** Creates HTML as `html` does, whose markup stays English: the articles of the docs. */
export const prose = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html({ strings, parts, isProse: true })

function render({ strings, parts, isProse }: Template): string {
  const words = isProse ? undefined : currentWords()
  if (words) return renderIn(words, strings, parts)
  const texts = textsOf(strings)
  let text = texts[0] ?? ''
  for (let at = 0; at < parts.length; at += 1) text += textOf(parts[at]) + (texts[at + 1] ?? '')
  return text
}

function renderIn(words: Words, strings: TemplateStringsArray, parts: readonly Part[]): string {
  let template = words.templates.get(strings)
  if (!template) {
    template = translateTemplate(textsOf(strings), (message) => words.findPage(message))
    words.templates.set(strings, template)
  }
  let text = ''
  for (const piece of template) text += typeof piece === 'string' ? piece : textOf(parts[piece])
  return text
}
