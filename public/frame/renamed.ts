/**
 * The fallback's names for elements that could reach out. Those without an end tag become one that
 * may stand in the head and shows nothing: an element of another name would end the head there,
 * and hold all that follows. In `i<base.length` the sign is code: no tag's name ends so.
 */
const end = '(?![a-z0-9.,;:?!&|=+*%)}[\\]-])'
const alone = `(?:link|meta|base|embed)${end}`
const all = 'link|meta|base|iframe|frame|frameset|object|embed|portal|fencedframe'
const any = `(?:[^\\s<>/"'=:]*:)?(?:${all})${end}`

/** What is replaced in a page's text, in this order. */
export const renamed: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?<![\\w$)\\]])<(?=${alone})`, 'gi'), '<basefont x-off-'],
  [new RegExp(`<(/?)(?=${any})`, 'gi'), '<$1x-off-'],
]

const names = /(?<![\w#.:[="'-])(?:link|meta|base|embed)(?![\w-])/gi

/** Pages ask for their own meta and link, to change a colour or an icon, and go on from there. */
export function findRenamed(): void {
  for (const { prototype } of [Document, DocumentFragment, Element]) {
    const real = prototype.querySelector
    const find = function (this: ParentNode, selectors: string): Element | null {
      const asked = String(selectors)
      return real.call(this, asked) ?? real.call(this, asked.replace(names, '[x-off-$&]'))
    }
    Object.defineProperty(prototype, 'querySelector', {
      value: find,
      writable: true,
      configurable: true,
    })
  }
}
