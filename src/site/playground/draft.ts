import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { playTurnsMax } from '../../kernel/limits.ts'
import { oneOf } from '../../kernel/schema.ts'
import { type Form, rejectForm } from '../forms.ts'
import { chatNumbers } from './parameters.ts'

/** A message of a conversation. `summary` summarizes the tokens and cost of a reply. */
const Turn = Type.Object(
  {
    role: oneOf(['user', 'assistant']),
    content: Type.String(),
    summary: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
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
    rejectForm(
      `A conversation can have at most ${playTurnsMax} messages. Start a new conversation.`,
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
    rejectForm('Enter a whole number of max tokens, 1 or more.')
  }
  const numbers = chatNumbers.flatMap(({ name, label }) => {
    const text = parameters[name] ?? ''
    if (text === '') return []
    if (!Number.isFinite(Number(text))) rejectForm(`Enter a number in “${label}”.`)
    return [[name, Number(text)] as const]
  })
  return { ...Object.fromEntries(numbers), ...(reasoning_effort && { reasoning_effort }) }
}
