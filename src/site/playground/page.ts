import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { demoBuilder } from '../../apps/models/model-call.ts'
import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  fileBytesMax,
  imagesPerRequestMax,
  playModelsMax,
  playTurnsMax,
  promptCharsMax,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { oneOf, strictObject } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { withQuery } from '../components.ts'
import { alert, button, type Form, hiddenField, postForm, selectField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { type Mode, modeOf, modes } from '../models/modes.ts'
import { modeNames } from '../models/parts.ts'
import { shortPrice } from '../models/prices.ts'
import { renderFile } from '../packs/markdown.ts'
import { playgroundPath } from '../paths.ts'

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
function parameterPanel(system: string, values: Record<string, string>): Html {
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
type Turn = Static<typeof Turn>
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

/** The demo builder replies with pages only, so that a chat with it returns nothing. */
const isUsable = ({ id, price }: ModelResponse): boolean =>
  id !== demoBuilder && Object.keys(price).length > 0

/** Limits the list of models; it always includes the selected one. */
function listedModels(models: ModelResponse[], selected: string): ModelResponse[] {
  const first = models.slice(0, playModelsMax)
  const named = models.find(({ id }) => id === selected)
  return named && !first.includes(named) ? [named, ...first] : first
}

/** The default: the chat model with the lowest price per output token. */
const cheapestModel = (models: ModelResponse[]): string =>
  models
    .filter(({ type }) => type === 'chat')
    .toSorted((a, b) => Number(a.price.completion) - Number(b.price.completion))[0]?.id ?? ''

function modelField(models: ModelResponse[], selected: string): Html {
  const option = (model: ModelResponse): Html =>
    html`<option
      value="${model.id}"
      ${model.id === selected && html` selected`}
      data-inputs="${model.inputs.join(' ')}"
    >
      ${model.id} · ${shortPrice(model.price)}
    </option>`
  const group = (mode: Mode): Part => {
    const all = models.filter((model) => modeOf(model) === mode)
    return (
      all.length > 0 &&
      html`<optgroup label="${modeNames[mode]}" data-mode="${mode}">${all.map(option)}</optgroup>`
    )
  }
  return html`<label class="field model-field"
    ><span>Model</span
    ><select name="model" required>
      ${modes.map(group)}
    </select></label
  >`
}

/** Replies are Markdown; the messages of a person are plain text. */
async function renderTurn({ role, content, summary }: Turn): Promise<Html> {
  const text =
    role === 'user'
      ? html`<p class="turn-text">${content}</p>`
      : html`<div class="turn-text markdown">
          ${await renderFile(sha256(content), { text: content, path: '', files: [], viewUrl: '', contentUrl: '' })}
        </div>`
  return html`<article class="turn ${role}">
    <h2>${role === 'user' ? t('You') : t('Model')}</h2>
    ${text} ${summary !== undefined && html`<p class="small">${summary}</p>`}
  </article>`
}

const noModels = emptyState(
  msg('No models available'),
  msg('The operator adds models with provider keys and settings.'),
  html`<a class="button quiet" href="/catalogue">Models</a>`,
)

export interface PlaygroundView {
  token: string
  /** The ID of the wallet, which names the history in the browser. */
  owner: string
  draft: ChatDraft
  /** A second model to compare with. */
  other: string
  /** The available balance as text. */
  left: string
  message?: string | undefined
}

/**
 * Renders the playground. Without scripts it is a chat whose conversation is stored in its form,
 * and every turn loads the page again. With scripts it has all kinds of models, two models side by
 * side, attachments and a history in the browser.
 */
export async function playgroundPage(ctx: AppContext, view: PlaygroundView): Promise<Page> {
  const { token, owner, draft, left, message, other } = view
  const available = catalog.listModels(ctx).filter(isUsable)
  const model = draft.model || cheapestModel(available)
  const models = listedModels(available, model)
  const turns = draft.turns ?? []
  const pane = html`<section class="pane" aria-label="Conversation">
    ${modelField(models, model)}
    <div class="log" role="log" aria-label="Conversation" tabindex="0">
      ${await Promise.all(turns.map(renderTurn))}
    </div>
  </section>`
  const composer = html`<div class="composer">
    ${alert(message)}
    ${textArea({ label: t('Message'), name: 'text', value: draft.text, max: promptCharsMax, required: true })}
    <p class="actions">
      ${button(t('Send'))}<a class="button quiet" href="${withQuery(playgroundPath, { model })}"
        >New conversation</a
      ><span class="small left">Balance: <a href="/wallet" data-left>${left}</a></span>
    </p>
  </div>`
  const settings = html`<details class="settings" open>
    <summary>Parameters</summary>
    ${parameterPanel(draft.system, draft.parameters)}
  </details>`
  const fields = html`${hiddenField('turns', JSON.stringify(turns))}
    <div class="panes">${pane}</div>
    ${composer}${settings}`
  const main = html`<div class="head title">
      <h1>Playground</h1>
    </div>
    <noscript
      ><p class="small">
        Without scripts, the playground chats in text. Images, audio, files and comparisons need
        scripts.
      </p></noscript
    >
    ${
      models.length > 0
        ? html`<chat-playground
            data-gateway="${ctx.urls.gateway}"
            data-owner="${owner}"
            data-other="${other}"
            data-file-bytes="${fileBytesMax}"
            >${postForm(token, playgroundPath, fields, 'playground')}</chat-playground
          >`
        : noModels
    }`
  return {
    title: t('Playground'),
    main,
    section: playgroundPath,
    isWide: true,
    styles: ['playground.css'],
    scripts: ['copy-line.js', 'chat-playground.js'],
  }
}
