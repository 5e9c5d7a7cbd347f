import { dirname, join } from 'node:path/posix'

import { parseUrl } from './address.ts'
import type { Library } from './library.ts'
import { fileName } from './modules.ts'

const references = /url\(\s*(["']?)([^"')\s]+)\1\s*\)|@import\s+(["'])([^"'\n]+)\3/g

/** Replaces the files that a style sheet of a package loads by their names inside the page. */
export function rewriteStyle(
  library: Library,
  path: string,
  text: string,
): { text: string; paths: string[] } {
  const paths = new Set<string>()
  const rewritten = text.replace(
    references,
    (whole: string, _: string, url: string | undefined, __: string, sheet: string | undefined) => {
      const [given = ''] = (url ?? sheet ?? '').split(/[?#]/, 1)
      if (given === '' || /^(?:[a-z]+:|\/\/)/i.test(given)) return whole
      const found = join(dirname(path), given)
      if (!library.files.has(found)) return whole
      paths.add(found)
      const name = `url(${fileName(library, found)})`
      return sheet === undefined ? name : `@import ${name}`
    },
  )
  return { text: rewritten, paths: [...paths] }
}

/** A family of a Google Fonts URL, with its weights. */
interface Family {
  family: string
  weights: number[]
}

const familiesMax = 20
const weightsOf = (text: string): number[] => {
  const found = [...text.matchAll(/(?<![\d.])([1-9]00)(?!\d)/g)].map(([, weight]) => Number(weight))
  return found.length > 0 ? [...new Set(found)] : [400]
}

/** Reads the families of /css?family=A:400,700|B and /css2?family=A:wght@400;700&family=B. */
export function fontFamilies(text: string): Family[] {
  const url = parseUrl(text.replaceAll('&amp;', '&'))
  const parts = (url?.searchParams.getAll('family') ?? []).flatMap((value) => value.split('|'))
  return parts.slice(0, familiesMax).map((part) => {
    const [family = '', ...rest] = part.split(':')
    return { family: family.trim(), weights: weightsOf(rest.join(':')) }
  })
}

/** Families of Google Fonts that have another name since they are variable fonts. */
const renamedFonts = new Map([['fredoka-one', 'fredoka']])

/** Returns the packages that may hold a family, variable fonts first. */
export const fontPackages = (family: string): string[] => {
  const named = family.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const slug = renamedFonts.get(named) ?? named
  return [`@fontsource-variable/${slug}`, `@fontsource/${slug}`]
}

/** Returns the class that Google sends with a font of icons, whose names are texts of elements. */
const iconClass = (family: string): string =>
  /^Material (?:Icons|Symbols)/.test(family)
    ? `.${family.toLowerCase().replaceAll(/[^a-z]+/g, '-')}{font:normal 24px/1 '${family.replaceAll(/[^\w \-]/g, '')}';letter-spacing:normal;text-transform:none;display:inline-block;white-space:nowrap;word-wrap:normal;direction:ltr;font-feature-settings:'liga';-webkit-font-smoothing:antialiased}`
    : ''

const face = (family: string, weight: string, name: string): string =>
  `@font-face{font-family:'${family.replaceAll(/[^\w \-]/g, '')}';font-style:normal;font-weight:${weight};font-display:swap;src:url(${name}) format('woff2')}`

/** Returns the @font-face rules of one family from its package, and the font files. */
export function fontRules(
  library: Library,
  { family, weights }: Family,
): { text: string; paths: string[] } {
  const fonts = [...library.files.keys()].filter((path) => path.endsWith('-normal.woff2'))
  const variable = fonts.find((path) => path.includes('-wght-'))
  if (variable !== undefined) {
    const text = face(family, '100 900', fileName(library, variable)) + iconClass(family)
    return { text, paths: [variable] }
  }
  const weightOf = (path: string): number => Number(/-(\d00)-normal/.exec(path)?.[1] ?? 400)
  const chosen = new Map<string, number>()
  for (const weight of weights) {
    const near = fonts.toSorted(
      (a, b) => Math.abs(weightOf(a) - weight) - Math.abs(weightOf(b) - weight),
    )[0]
    if (near !== undefined) chosen.set(near, weightOf(near))
  }
  const rules = [...chosen].map(([path, weight]) =>
    face(family, String(weight), fileName(library, path)),
  )
  return { text: [...rules, iconClass(family)].join('\n').trim(), paths: [...chosen.keys()] }
}
