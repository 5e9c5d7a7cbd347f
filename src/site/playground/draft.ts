import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html } from '../../kernel/html.ts'
import {
  imagesPerRequestMax,
  playTurnsMax,
  promptCharsMax,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { oneOf, strictObject } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { type Form, selectField, textArea } from '../forms.ts'
import { type Mode, modes } from '../models/modes.ts'

/** A parameter of a request by its name in the API. Numbers have a range. */
interface Parameter {
  name: string
  label: Text
  hint?: Text
  min?: number
  max?: number
  step?: number | 'any'
  options?: readonly (readonly [value: string, label: Text])[]
}

/** The number parameters of a chat, which the form without scripts sends too. */
const chatNumbers = [
  {
    name: 'max_tokens',
    label: msg('Max tokens'),
    hint: msg('Limits the length and the maximum cost.'),
    min: 1,
    step: 1,
  },
  { name: 'temperature', label: msg('Temperature'), min: 0, max: 2, step: 'any' },
  { name: 'top_p', label: msg('Top P'), min: 0, max: 1, step: 'any' },
  { name: 'seed', label: msg('Seed'), min: 0, step: 1 },
] as const satisfies Parameter[]

const plain = (values: string[]) => values.map((value) => [value, value] as const)
const byDefault = ['', msg('Default')] as const

const parameters: Record<Mode, Parameter[]> = {
  chat: [
    ...chatNumbers,
    {
      name: 'reasoning_effort',
      label: msg('Reasoning effort'),
      options: [byDefault, ['low', msg('Low')], ['medium', msg('Medium')], ['high', msg('High')]],
    },
  ],
  image: [
    {
      name: 'size',
      label: msg('Size'),
      options: [byDefault, ...plain(['512x512', '1024x1024', '1024x1536', '1536x1024'])],
    },
    { name: 'n', label: msg('Images'), min: 1, max: imagesPerRequestMax, step: 1 },
    { name: 'negative_prompt', label: msg('Negative prompt') },
  ],
  video: [
    { name: 'aspect_ratio', label: msg('Aspect ratio'), options: plain(['16:9', '9:16', '1:1']) },
    { name: 'duration', label: msg('Seconds'), min: 1, max: videoSecondsMax, step: 1 },
  ],
  speech: [
    { name: 'voice', label: msg('Voice'), hint: msg('The voices depend on the model.') },
    {
      name: 'response_format',
      label: msg('Format'),
      options: plain(['mp3', 'wav', 'opus', 'flac']),
    },
  ],
  transcription: [
    { name: 'language', label: msg('Language'), hint: msg('A code such as en or de.') },
  ],
  embedding: [{ name: 'dimensions', label: msg('Dimensions'), min: 1, step: 1 }],
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
      ${mode === 'chat' && textArea({ label: t('System prompt'), name: 'system', value: system, max: promptCharsMax })}
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

/** A message of a conversation. `summary` summarizes the tokens and cost of a reply. */
const Turn = strictObject({
  role: oneOf(['user', 'assistant']),
  content: Type.String(),
  summary: Type.Optional(Type.String()),
})
export type Turn = Static<typeof Turn>
const TurnsSchema = Type.Array(Turn, { maxItems: playTurnsMax })

/** The submitted form of a chat without scripts. `turns` is undefined when it is malformed. */
export interface ChatDraft {
  model: string
  system: string
  /** The parameters of the chat as typed, by name. */
  parameters: Record<string, string>
  turns: Turn[] | undefined
  text: string
}

/** Limits the hold of a first request. */
const tokensDefault = '1024'

export const emptyDraft = (model: string): ChatDraft => ({
  model,
  system: '',
  parameters: { max_tokens: tokensDefault },
  turns: [],
  text: '',
})

const parameterNames = [...chatNumbers.map(({ name }) => name), 'reasoning_effort']

export const readDraft = (form: Form): ChatDraft => ({
  model: form.text('model'),
  system: form.text('system'),
  parameters: Object.fromEntries(parameterNames.map((name) => [name, form.text(name).trim()])),
  turns: parseTurns(form.text('turns')),
  text: form.text('text'),
})

function parseTurns(text: string): Turn[] | undefined {
  try {
    const turns: unknown = JSON.parse(text)
    return Value.Check(TurnsSchema, turns) ? turns : undefined
  } catch {
    return undefined
  }
}

/** Creates a chat request (document 2, POST /chat/completions). Throws `bad_request`. */
export function chatRequest({ model, system, parameters, turns, text }: ChatDraft) {
  if (!turns || turns.length > playTurnsMax - 2) {
    rejectRequest(
      t('A conversation can have at most {playTurnsMax} messages. Start a new conversation.', {
        playTurnsMax,
      }),
    )
  }
  const history = turns.map(({ role, content }) => ({ role, content }))
  const messages = [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    ...history,
    { role: 'user', content: text },
  ]
  return { model, messages, ...readParameters(parameters) }
}

function readParameters(parameters: ChatDraft['parameters']): Record<string, unknown> {
  const { max_tokens = '', reasoning_effort } = parameters
  const limit = Number(max_tokens)
  if (max_tokens !== '' && !(Number.isSafeInteger(limit) && limit > 0)) {
    rejectRequest(t('Enter a whole number of max tokens, 1 or more.'))
  }
  const numbers = chatNumbers.flatMap(({ name, label }) => {
    const text = parameters[name] ?? ''
    if (text === '') return []
    if (!Number.isFinite(Number(text))) rejectRequest(t('Enter a number in “{label}”.', { label }))
    return [[name, Number(text)] as const]
  })
  return { ...Object.fromEntries(numbers), ...(reasoning_effort && { reasoning_effort }) }
}
