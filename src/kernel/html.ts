import { escapeHtml } from './text.ts'

/** Escaped HTML. Only `html` creates it. */
export class Html {
  constructor(readonly text: string) {}
}

/** A value in a template. Undefined, null and false produce nothing. */
export type Part = string | number | Html | false | null | undefined | readonly Part[]

function textOf(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part)
  if (part instanceof Html) return part.text
  if (part === undefined || part === null || part === false) return ''
  if (typeof part === 'number') return String(part)
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
 * attributes, so templates must quote every attribute.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const texts = textsOf(strings)
  let text = texts[0] ?? ''
  for (let at = 0; at < parts.length; at += 1) text += textOf(parts[at]) + (texts[at + 1] ?? '')
  return new Html(text)
}
