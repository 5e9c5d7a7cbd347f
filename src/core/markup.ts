import { escapeHtml } from './text.ts'

/** HTML that is safe to send: made by `html` alone, which escapes every text put into it. */
export class Html {
  constructor(readonly text: string) {}
}

/** What may stand in a template. Nothing is written for undefined, null and false. */
export type Part = string | number | Html | false | null | undefined | readonly Part[]

function textOf(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part)
  if (part instanceof Html) return part.text
  if (part === undefined || part === null || part === false) return ''
  return typeof part === 'number' ? String(part) : part.map(textOf).join('')
}

/** The texts of each template without the indentation that its source has. */
const trimmed = new WeakMap<TemplateStringsArray, readonly string[]>()

function textsOf(strings: TemplateStringsArray): readonly string[] {
  const known = trimmed.get(strings) ?? strings.map((text) => text.replace(/\n\s+/g, '\n'))
  trimmed.set(strings, known)
  return known
}

/**
 * A template of HTML: html`<p>${words}</p>`. Texts are escaped for elements and for attributes in
 * quotes; whoever writes a template quotes every attribute.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const [first = '', ...texts] = textsOf(strings)
  return new Html(texts.reduce((text, next, at) => text + textOf(parts[at]) + next, first))
}
