/**
 * The fallback's names for elements that could reach out. Those without an end tag become one that
 * may stand in the head and shows nothing: an element of another name would end the head there,
 * and hold all that follows. In `i<base.length` the sign is code: no tag's name ends so.
 */
const end = '(?![a-z0-9.,;:?!&|=+*%)}[\\]-])'
const alone = `(?:link|meta|base|embed)${end}`
const all = 'link|meta|base|iframe|frame|frameset|object|embed|portal|fencedframe'
const prefix = `[^\\s<>/"'=:]*:`
const any = `(?:${prefix})?(?:${all})${end}`

/** What is replaced in a page's text, in this order. */
export const renamed: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?<![\\w$)\\]])<(?=${alone})`, 'gi'), '<basefont x-off-'],
  [new RegExp(`<(/?)(?=${any})`, 'gi'), '<$1x-off-'],
]

const sheets = new RegExp(
  '<link(?=\\s[^<>]*\\brel=["\']?stylesheet\\b)(?![^<>]*\\smedia\\s*=)' +
    '\\s[^<>]*?\\bhref=(["\'])(data:text/css[;,][^"\'<>\\s&\\\\]*)\\1[^<>]*>',
  'gi',
)

/** Style sheets that the page brings with it, in elements that stay. */
export const styled = (html: string): string =>
  html.replace(sheets, '<style>@import url($1$2$1)</style>')

const names = /(?<![\w#.:[="'-])(?:link|meta|base|embed)(?![\w-])/gi

/** Pages ask for their own meta and link, to change a colour or an icon, and go on from there. */
export function findRenamed(): void {
  for (const { prototype } of [Document, DocumentFragment, Element]) {
    const real = prototype.querySelector
    const find = function (this: ParentNode, selectors: string): Element | null {
      const asked = String(selectors)
      return (
        real.call(this, asked) ?? real.call(this, asked.replace(names, ':is([x-off-$&],x-off-$&)'))
      )
    }
    Object.defineProperty(prototype, 'querySelector', {
      value: find,
      writable: true,
      configurable: true,
    })
  }
}

const unprefixed = new RegExp(`<(/?)x-off-(${prefix})`, 'g')
const inXml = new RegExp(`<(/?)((?:${prefix})?)(?=(?:${all})${end})`, 'gi')

/** XML stays well-formed: there each has an end tag, and its prefix is one that was declared. */
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
