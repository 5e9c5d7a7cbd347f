/** A start tag with its attributes: `<script src="a.js">`. */
export interface Tag {
  /** In lower case. */
  name: string
  text: string
  /** The raw text of a script, style or other element without markup inside. */
  body: string
}

const opening = /<!--|<([a-z][^\s/>]*)/gi
const rawText = /^(script|style|textarea|title|xmp|iframe|noembed|noframes)$/

/**
 * Rewrites the start tags of a page, each with its raw text. Everything else stays. The time grows
 * with the length of the page, also of one that is broken on purpose.
 */
export function rewriteTags(html: string, rewrite: (tag: Tag) => string): string {
  const parts: string[] = []
  const next = new RegExp(opening)
  let at = 0
  for (let found = next.exec(html); found; found = next.exec(html)) {
    const name = found[1]?.toLowerCase()
    if (name === undefined) {
      const end = html.indexOf('-->', found.index)
      if (end < 0) break
      next.lastIndex = end
      continue
    }
    const opened = endOfTag(html, found.index)
    const closed = opened < 0 || !rawText.test(name) ? opened : endOfRawText(html, name, opened)
    // A tag without an end is the end of the page for browsers, too.
    if (closed < 0) break
    const [text, body] = [html.slice(found.index, opened), html.slice(opened, closed)]
    const written = rewrite({ name, text, body })
    if (written !== text + body) {
      parts.push(html.slice(at, found.index), written)
      at = closed
    }
    next.lastIndex = closed
  }
  return parts.join('') + html.slice(at)
}

/** Returns the index after the `>` of a tag, which values in quotes may contain; -1 without one. */
function endOfTag(html: string, start: number): number {
  const next = /[>=]/g
  next.lastIndex = start
  for (let found = next.exec(html); found; found = next.exec(html)) {
    if (found[0] === '>') return found.index + 1
    const quoted = /\s*["']/y
    quoted.lastIndex = found.index + 1
    const [quote] = quoted.exec(html) ?? []
    if (quote === undefined) continue
    const end = html.indexOf(quote.slice(-1), quoted.lastIndex)
    if (end < 0) return -1
    next.lastIndex = end + 1
  }
  return -1
}

function endOfRawText(html: string, name: string, start: number): number {
  const end = new RegExp(`</${name}`, 'gi')
  end.lastIndex = start
  return end.exec(html)?.index ?? -1
}

/** Returns the value of an attribute of a tag; undefined without it. */
export function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag)
  return value?.[1] ?? value?.[2] ?? value?.[3]
}
