import { rejectRequest } from '../../kernel/errors.ts'
import { attributeOf, rewriteTags } from '../folders/page-tags.ts'
import { fitValue, type Knob, knobName, type KnobValue, readKnobs, withValue } from './knobs.ts'

/** The values of knobs by their names. */
export type KnobValues = Record<string, KnobValue>

/** Start of a page in which declarations are looked for. To look through all takes a second. */
const headChars = 65_536

/** Returns the knobs that a page declares in its head. */
export function findKnobs(html: string): Knob[] {
  if (!html.includes(knobName)) return []
  const contents: string[] = []
  rewriteKnobs(html, (content) => void contents.push(content))
  return readKnobs(contents)
}

/** Returns a page with these values of its knobs. Throws `bad_request` for other values. */
export function setKnobs(html: string, values: KnobValues): string {
  const knobs = findKnobs(html)
  const fitted = new Map(
    Object.entries(values).map(([name, value]) => [name, requireFit(knobs, name, value)]),
  )
  return rewriteKnobs(html, (content) => {
    const [knob] = readKnobs([content])
    const value = knob && fitted.get(knob.name)
    return value === undefined ? undefined : withValue(content, value)
  })
}

function requireFit(knobs: Knob[], name: string, value: KnobValue): KnobValue {
  const knob = knobs.find((one) => one.name === name)
  const fit = knob && fitValue(knob, value)
  if (fit !== undefined) return fit
  const names = knobs.map((one) => one.name).join(', ')
  rejectRequest(
    knob
      ? `The knob "${name}" is a ${knob.type} and cannot have this value. Send one that the page allows.`
      : `The page has no knob "${name}". Send values of: ${names || 'none'}.`,
    'knobs',
  )
}

const entities: [string, string][] = [
  ['&', '&amp;'],
  ['"', '&quot;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]
/** Returns the text of an attribute. */
export const decodeAttribute = (text: string): string =>
  entities.toReversed().reduce((all, [sign, entity]) => all.replaceAll(entity, sign), text)
const encode = (text: string): string =>
  entities.reduce((all, [sign, entity]) => all.replaceAll(sign, entity), text)

/** Rewrites the declarations of a page. One for which `rewrite` returns nothing stays as it is. */
const rewriteKnobs = (html: string, rewrite: (content: string) => string | undefined | void) =>
  rewriteTags(html.slice(0, headChars), ({ name, text, body }) => {
    const content =
      name === 'meta' && attributeOf(text, 'name')?.toLowerCase() === knobName
        ? attributeOf(text, 'content')
        : undefined
    const next = content === undefined ? undefined : rewrite(decodeAttribute(content))
    return typeof next === 'string'
      ? `<meta name="${knobName}" content="${encode(next)}">`
      : text + body
  }) + html.slice(headChars)
