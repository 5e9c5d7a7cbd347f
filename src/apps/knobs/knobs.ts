/** The knobs of a page, in the form that both the server and browsers read. */
export const knobsMax = 12
const labelCharsMax = 40
const textCharsMax = 40
const optionsMax = 12
/** Positions of a range. A finer one could not be set with a slider. */
const stepsMax = 10_000

export const knobName = 'berth:knob'

export type KnobValue = number | string | boolean

interface Named {
  name: string
  label: string
}

/** A value of a page that players turn: `<meta name="berth:knob" content="name=speed; …">`. */
export type Knob = Named &
  (
    | { type: 'range'; min: number; max: number; step: number; value: number }
    | { type: 'color'; value: string }
    | { type: 'choice'; options: string[]; value: string }
    | { type: 'switch'; value: boolean }
  )

const namePattern = /^[a-z][a-z0-9-]{0,31}$/
const colorPattern = /^#[0-9a-f]{6}$/

/** Reads "name=speed; type=range; …" as fields. */
const fieldsOf = (content: string): Map<string, string> =>
  new Map(
    content.split(';').flatMap((part): [string, string][] => {
      const at = part.indexOf('=')
      return at < 0 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()]]
    }),
  )

/** Reads the declaration of a knob; undefined for one that is not valid. */
function readKnob(content: string): Knob | undefined {
  const fields = fieldsOf(content)
  const text = (name: string): string => fields.get(name) ?? ''
  const name = text('name')
  const label = text('label') || name
  if (!namePattern.test(name) || label.length > labelCharsMax) return undefined
  const knob = withType(text, { name, label })
  return knob && fitValue(knob, knob.value) !== undefined ? knob : undefined
}

function withType(text: (name: string) => string, named: Named): Knob | undefined {
  const value = text('value')
  switch (text('type')) {
    case 'range': {
      const [min, max, step] = [
        Number(text('min') || 0),
        Number(text('max')),
        Number(text('step') || 1),
      ]
      const isRange = [min, max, step].every(Number.isFinite) && step > 0 && max > min
      if (!isRange || (max - min) / step > stepsMax) return undefined
      return { ...named, type: 'range', min, max, step, value: value === '' ? min : Number(value) }
    }
    case 'color':
      return { ...named, type: 'color', value: value.toLowerCase() }
    case 'choice': {
      const options = text('options')
        .split('|')
        .map((option) => option.trim())
      const isChoice =
        options.length >= 2 &&
        options.length <= optionsMax &&
        options.every((option) => option !== '' && option.length <= textCharsMax)
      return isChoice
        ? { ...named, type: 'choice', options, value: value || (options[0] ?? '') }
        : undefined
    }
    case 'switch':
      return { ...named, type: 'switch', value: value === 'on' }
  }
  return undefined
}

/** Reads the declarations of a page: the valid ones, each name once, at most twelve. */
export function readKnobs(contents: Iterable<string>): Knob[] {
  const knobs = new Map<string, Knob>()
  for (const content of contents) {
    const knob = readKnob(content)
    if (knob && !knobs.has(knob.name) && knobs.size < knobsMax) knobs.set(knob.name, knob)
  }
  return [...knobs.values()]
}

/** Returns a value that a knob can have: this one, at the nearest step; undefined for others. */
export function fitValue(knob: Knob, value: unknown): KnobValue | undefined {
  switch (knob.type) {
    case 'range': {
      if (typeof value !== 'number' || !(value >= knob.min && value <= knob.max)) return undefined
      const steps = Math.round((value - knob.min) / knob.step)
      return Math.min(knob.max, Number((knob.min + steps * knob.step).toPrecision(12)))
    }
    case 'color':
      return typeof value === 'string' && colorPattern.test(value) ? value : undefined
    case 'choice':
      return typeof value === 'string' && knob.options.includes(value) ? value : undefined
    case 'switch':
      return typeof value === 'boolean' ? value : undefined
  }
}

const textOf = (value: KnobValue): string =>
  typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)

/** Returns a declaration with another value. */
export function withValue(content: string, value: KnobValue): string {
  const others = content
    .split(';')
    .filter((part) => !/^\s*value\s*=/i.test(part) && part.trim() !== '')
  return [...others.map((part) => part.trim()), `value=${textOf(value)}`].join('; ')
}
