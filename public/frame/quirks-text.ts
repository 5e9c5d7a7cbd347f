/**
 * A srcdoc document never enters quirks mode, and a third of real small games were written in it.
 * What they lean on is put into words of standards mode. Follows the Quirks Mode Standard.
 */
const lengths =
  'background-position|border-spacing|border(?:-top|-right|-bottom|-left)?-width|bottom|font-size|(?:min-|max-)?(?:height|width)|left|letter-spacing|(?:margin|padding)(?:-top|-right|-bottom|-left)?|right|text-indent|top|vertical-align|word-spacing'
const unitless = new RegExp(`((?:^|[;{\\s"'])(?:${lengths})\\s*:)([^;{}"'<>]*)`, 'gi')
const bare = /(^|\s)([+-]?(?:\d+\.?\d*|\.\d+))(?=\s|$|!)/g
const length = new RegExp(`^(?:${lengths})$`, 'i')

/**
 * 3.4: html fills the viewport, body fills html, and so percentages of height resolve. WebKit
 * resolves none against its own word for that, but does within an item of a grid.
 */
const full =
  '<style>html{height:100%}:where(body){height:calc(100% - 16px);height:-webkit-fill-available;height:stretch}' +
  '@supports (-webkit-nbsp-mode:space) and (not (height:stretch)){html{display:grid;grid-template:100%/100%}:where(body){height:auto}}</style>'

/** True for a page without a doctype, or with one of those that mean quirks. HTML 13.2.6.4.1. */
export function isQuirky(html: string): boolean {
  const start = html.slice(0, 20_000).replace(/^(?:\s+|<!--[^]*?-->|<\?[^>]*>)*/, '')
  const doctype = /^<!doctype\s+html([^>]*)>/i.exec(start)?.[1]
  if (doctype === undefined) return true
  return (
    /-\/\/W3C\/\/DTD HTML 3|-\/\/IETF\/\//i.test(doctype) ||
    /-\/\/W3C\/\/DTD HTML 4\.0\d* (?:Transitional|Frameset)\/\/EN["']\s*$/i.test(doctype)
  )
}

/** 3.2, the unitless length quirk: "100" is "100px" where a length is meant, but not in calc(). */
export const withUnits = (value: string): string =>
  value.includes('(')
    ? value
    : value.replace(bare, (whole, space: string, number: string) =>
        Number(number) === 0 ? whole : `${space}${number}px`,
      )

export const isLength = (property: string): boolean => length.test(property)

/** The same for a whole text of declarations. */
export const declarations = (css: string): string =>
  css.replace(unitless, (_, name: string, value: string) => name + withUnits(value))

/** The page with its style elements and style attributes put into standards mode. */
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
