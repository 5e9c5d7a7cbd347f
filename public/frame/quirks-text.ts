/**
 * Emulates quirks mode, which a srcdoc document never enters and a third of real small games need.
 * Follows the Quirks Mode Standard.
 */
const lengths =
  'background-position|border-spacing|border(?:-top|-right|-bottom|-left)?-width|bottom|font-size|(?:min-|max-)?(?:height|width)|left|letter-spacing|(?:margin|padding)(?:-top|-right|-bottom|-left)?|right|text-indent|top|vertical-align|word-spacing'
const unitless = new RegExp(`((?:^|[;{\\s"'])(?:${lengths})\\s*:)([^;{}"'<>]*)`, 'gi')
const bare = /(^|\s)([+-]?(?:\d+\.?\d*|\.\d+))(?=\s|$|!)/g
const length = new RegExp(`^(?:${lengths})$`, 'i')

/**
 * 3.4: html fills the viewport and body fills html, so percentage heights resolve. WebKit resolves
 * them only inside a grid item.
 */
const full =
  '<style>html{height:100%}:where(body){height:calc(100% - 16px);height:-webkit-fill-available;height:stretch}' +
  '@supports (-webkit-nbsp-mode:space) and (not (height:stretch)){html{display:grid;grid-template:100%/100%}:where(body){height:auto}}</style>'

/** Returns whether a page has no doctype or a quirks doctype (HTML 13.2.6.4.1). */
export function isQuirky(html: string): boolean {
  const start = html.slice(0, 20_000).replace(/^(?:\s+|<!--[^]*?-->|<\?[^>]*>)*/, '')
  const doctype = /^<!doctype\s+html([^>]*)>/i.exec(start)?.[1]
  if (doctype === undefined) return true
  return (
    /-\/\/W3C\/\/DTD HTML 3|-\/\/IETF\/\//i.test(doctype) ||
    /-\/\/W3C\/\/DTD HTML 4\.0\d* (?:Transitional|Frameset)\/\/EN["']\s*$/i.test(doctype)
  )
}

/** 3.2, the unitless length quirk: "100" is "100px", except in calc(). */
export const withUnits = (value: string): string =>
  value.includes('(')
    ? value
    : value.replace(bare, (whole, space: string, number: string) =>
        Number(number) === 0 ? whole : `${space}${number}px`,
      )

export const isLength = (property: string): boolean => length.test(property)

/** Applies the quirk to a list of declarations. */
export const declarations = (css: string): string =>
  css.replace(unitless, (_, name: string, value: string) => name + withUnits(value))

/** Returns the page with style elements and attributes rewritten for standards mode. */
export const quirkless = (html: string): string =>
  full +
  html
    .replace(
      /(<style\b[^>]*>)([^]*?)(?=<\/style)/gi,
      (_, tag: string, css: string) => tag + declarations(css),
    )
    .replace(
      /(<[a-z][^<>]*\sstyle\s*=\s*)("[^"]*"|'[^']*')/gi,
      (_, tag: string, css: string) => tag + declarations(css),
    )
