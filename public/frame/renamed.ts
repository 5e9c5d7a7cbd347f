/**
 * Replacement names for elements that could open connections. Void elements get a name that is
 * allowed in the head and shows nothing: another name would end the head and contain the rest.
 * `i<base.length` is code, not a tag.
 */
const end = '(?![a-z0-9.,;:?!&|=+*%)}[\\]-])'
const alone = `(?:link|meta|base|embed)${end}`
const all = 'link|meta|base|iframe|frame|frameset|object|embed|portal|fencedframe'
const prefix = `[^\\s<>/"'=:]*:`
const any = `(?:${prefix})?(?:${all})${end}`

/** Replacements of names in a page's text, in this order. */
export const renamed: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?<![\\w$)\\]])<(?=${alone})`, 'gi'), '<basefont x-off-'],
  [new RegExp(`<(/?)(?=${any})`, 'gi'), '<$1x-off-'],
]

const marked = 'shadow-root-mode'

/**
 * Makes all declarative shadow roots open, in this order: the guard sees no link in a closed one.
 * Other spellings of the attribute lose it. The last line creates the attribute only from the mark
 * of the second, which the first has removed from the page.
 */
export const opened: readonly (readonly [RegExp, string])[] = [
  [new RegExp(marked, 'gi'), 'data-srm'],
  [
    /shadowrootmode\s*=\s*(?:(["'])(?:open|closed)\1|(?:open|closed)(?=[\s>/]))/gi,
    `${marked}=$1open$1`,
  ],
  [/shadowrootmode/gi, 'data-srm'],
  [new RegExp(marked, 'g'), 'shadowrootmode'],
]

const sheets = new RegExp(
  '<link(?=\\s[^<>]*\\brel=["\']?stylesheet\\b)(?![^<>]*\\smedia\\s*=)' +
    '\\s[^<>]*?\\bhref=(["\'])(data:text/css[;,][^"\'<>\\s&\\\\]*)\\1[^<>]*>',
  'gi',
)

/** Keeps inline style sheets, in elements that stay. */
export const styled = (html: string): string =>
  html.replace(sheets, '<style>@import url($1$2$1)</style>')

/** Names of elements in selectors. */
export const names = /(?<![\w#.:[="'-])(?:link|meta|base|embed)(?![\w-])/gi

/** Lets pages find their renamed meta and link elements: to read settings, or change an icon. */
export function findRenamed(): void {
  for (const { prototype } of [Document, DocumentFragment, Element]) {
    const real = prototype.querySelector
    prototype.querySelector = function (this: ParentNode, selectors: string): Element | null {
      const own = real.call(this, selectors)
      if (own) return own
      const found = real.call(this, String(selectors).replace(names, ':is([x-off-$&],x-off-$&)'))
      return found && Object.assign(found, { content: found.getAttribute('content') })
    }
  }
}

const unprefixed = new RegExp(`<(/?)x-off-(${prefix})`, 'g')
const inXml = new RegExp(`<(/?)((?:${prefix})?)(?=(?:${all})${end})`, 'gi')

/** Keeps XML well-formed: an end tag for each element, and only declared prefixes. */
export function parseRenamed(): void {
  const real = DOMParser.prototype.parseFromString
  DOMParser.prototype.parseFromString = function (given: string, type) {
    if (type === 'text/html') return real.call(this, given, type)
    const xml = String(given)
      .replaceAll('<basefont x-off-', '<x-off-')
      .replace(unprefixed, '<$1$2x-off-')
      .replace(inXml, '<$1$2x-off-')
    return real.call(this, xml, type)
  }
}
