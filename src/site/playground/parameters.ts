import { type Html, html } from '../../kernel/html.ts'
import { imagesPerRequestMax, promptCharsMax, videoSecondsMax } from '../../kernel/limits.ts'
import { selectField, textArea } from '../forms.ts'
import { type Mode, modes } from '../models/modes.ts'

/** A parameter of a request by its name in the API. Numbers have a range. */
interface Parameter {
  name: string
  label: string
  hint?: string
  min?: number
  max?: number
  step?: number | 'any'
  options?: readonly (readonly [value: string, label: string])[]
}

/** The number parameters of a chat, which the form without scripts sends too. */
export const chatNumbers = [
  {
    name: 'max_tokens',
    label: 'Max tokens',
    hint: 'Limits the length and the maximum cost.',
    min: 1,
    step: 1,
  },
  { name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 'any' },
  { name: 'top_p', label: 'Top P', min: 0, max: 1, step: 'any' },
  { name: 'seed', label: 'Seed', min: 0, step: 1 },
] as const satisfies Parameter[]

const plain = (values: string[]) => values.map((value) => [value, value] as const)
const byDefault = ['', 'Default'] as const

const parameters: Record<Mode, Parameter[]> = {
  chat: [
    ...chatNumbers,
    {
      name: 'reasoning_effort',
      label: 'Reasoning effort',
      options: [byDefault, ['low', 'Low'], ['medium', 'Medium'], ['high', 'High']],
    },
  ],
  image: [
    {
      name: 'size',
      label: 'Size',
      options: [byDefault, ...plain(['512x512', '1024x1024', '1024x1536', '1536x1024'])],
    },
    { name: 'n', label: 'Images', min: 1, max: imagesPerRequestMax, step: 1 },
    { name: 'negative_prompt', label: 'Negative prompt' },
  ],
  video: [
    { name: 'aspect_ratio', label: 'Aspect ratio', options: plain(['16:9', '9:16', '1:1']) },
    { name: 'duration', label: 'Seconds', min: 1, max: videoSecondsMax, step: 1 },
  ],
  speech: [
    { name: 'voice', label: 'Voice', hint: 'The voices depend on the model.' },
    { name: 'response_format', label: 'Format', options: plain(['mp3', 'wav', 'opus', 'flac']) },
  ],
  transcription: [{ name: 'language', label: 'Language', hint: 'A code such as en or de.' }],
  embedding: [{ name: 'dimensions', label: 'Dimensions', min: 1, step: 1 }],
}

function parameterField({ name, label, hint, options, ...range }: Parameter, value = ''): Html {
  if (options) return selectField({ label, name, value, options })
  const isNumber = range.step !== undefined
  const limits =
    isNumber &&
    html` min="${range.min}"${range.max !== undefined && html` max="${range.max}"`}
    step="${range.step}" inputmode="decimal"`
  return html`<label class="field"
    ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<input
      type="${isNumber ? 'number' : 'text'}"
      name="${name}"
      value="${value}"
      ${limits}${!isNumber && html` maxlength="${promptCharsMax}"`}
      ${isNumber && html` placeholder="Default"`}
      autocomplete="off"
  /></label>`
}

/**
 * The parameters of every kind of request. Without scripts only those of a chat are visible; the
 * script shows those of the selected model.
 */
export function parameterPanel(system: string, values: Record<string, string>): Html {
  const fieldset = (mode: Mode): Html =>
    html`<fieldset data-mode="${mode}" ${mode !== 'chat' && html` hidden disabled`}>
      <legend class="visually-hidden">Parameters</legend>
      ${mode === 'chat' && textArea({ label: 'System prompt', name: 'system', value: system, max: promptCharsMax })}
      <div class="parameter-grid">
        ${parameters[mode].map((one) => parameterField(one, values[one.name] ?? defaults[mode]?.[one.name]))}
      </div>
    </fieldset>`
  return html`${modes.map(fieldset)}`
}

/** Values that models need, or that keep a first request cheap. */
const defaults: Partial<Record<Mode, Record<string, string>>> = {
  video: { duration: '4' },
  speech: { voice: 'alloy' },
}
