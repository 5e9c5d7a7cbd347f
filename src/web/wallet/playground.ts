import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import * as catalogue from '../../gateway/catalogue/catalogue.ts'
import type { ModelResponse } from '../../gateway/catalogue/schemas.ts'
import { playModelsMax, promptCharsMax } from '../../limits.ts'
import { perMillion } from '../catalogue.ts'
import { withQuery } from '../components.ts'
import { alert, form, hiddenField, selectField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { playgroundPath } from '../paths.ts'
import { walletTabs } from './parts.ts'
import type { ChatDraft, Turn } from './playground-chat.ts'

/** Bounds the hold of a first try; it may be raised. */
const tokensDefault = '1024'

/** A draft in which nothing was said yet, for the model that a link names. */
export const emptyDraft = (model: string): ChatDraft => ({
  model,
  system: '',
  max_tokens: tokensDefault,
  turns: [],
  text: '',
})

const isPriced = ({ price }: ModelResponse): boolean => price.prompt !== undefined

/** The chat models that can be run, the one that is chosen always among them. */
function listedModels(models: ModelResponse[], chosen: string): ModelResponse[] {
  const first = models.slice(0, playModelsMax)
  const named = models.find(({ id }) => id === chosen)
  return named && !first.includes(named) ? [named, ...first] : first
}

/** Where none was chosen, the one whose answers cost the least. */
const cheapestModel = (models: ModelResponse[]): string =>
  models.toSorted((a, b) => Number(a.price.completion) - Number(b.price.completion))[0]?.id ?? ''

function modelField(models: ModelResponse[], chosen: string): Html {
  const options = models.map(({ id, price }) => {
    const [into, out] = [perMillion(price.prompt), perMillion(price.completion)]
    return [id, `${id} · ${into} / ${out}`] as const
  })
  return html`<div>
    ${selectField({ label: 'Model', name: 'model', value: chosen, options })}
    <p class="small">
      USD for 1M tokens in / out, as in the <a href="/catalogue?type=chat">catalogue</a>.
    </p>
  </div>`
}

const renderTurn = ({ role, content, told }: Turn): Html =>
  html`<article class="turn ${role}">
    <h2>${role === 'user' ? 'You' : 'Model'}</h2>
    <p class="words">${content}</p>
    ${told !== undefined && html`<p class="small">${told}</p>`}
  </article>`

const settings = (models: ModelResponse[], { model, system, max_tokens }: ChatDraft): Html =>
  html`<div class="settings">
    ${modelField(models, model)}
    ${textArea({ label: 'System', name: 'system', value: system, max: promptCharsMax })}
    <label class="field"
      ><span>At most</span><span class="hint">Tokens of an answer. Fewer hold less.</span
      ><input
        type="number"
        name="max_tokens"
        value="${max_tokens}"
        min="1"
        step="1"
        inputmode="numeric"
        autocomplete="off"
    /></label>
  </div>`

const noModels = emptyState(
  'No chat model is served here',
  'Models come from the operator’s keys and settings.',
  html`<a class="button quiet" href="/catalogue">Catalogue</a>`,
)

/** What a playground's page is drawn from. */
export interface PlaygroundView {
  token: string
  draft: ChatDraft
  /** What the wallet has to spend. */
  left: string
  message?: string | undefined
}

/**
 * A page that talks to a model through the gateway. Without its script each answer is a page; the
 * conversation stands in the form, and nowhere else.
 */
export function playgroundPage(
  ctx: AppContext,
  { token, draft, left, message }: PlaygroundView,
): Page {
  const able = catalogue.listModels(ctx, 'chat').filter(isPriced)
  const model = draft.model || cheapestModel(able)
  const models = listedModels(able, model)
  const turns = draft.turns ?? []
  const talk = html`<div class="talk">
    <div class="log" role="log" aria-label="Conversation" tabindex="0">
      ${turns.map(renderTurn)}
    </div>
    ${alert(message)}
    ${textArea({ label: 'Message', name: 'text', value: draft.text, max: promptCharsMax, required: true })}
    <p class="acts">
      <button class="button">Send</button
      ><a class="button quiet" href="${withQuery(playgroundPath, { model })}">New conversation</a>
    </p>
    <p class="small">In the wallet: <span data-left>${left}</span></p>
  </div>`
  const fields = html`${hiddenField('turns', JSON.stringify(turns))}${talk}${settings(models, { ...draft, model })}`
  const main = html`<h1>Playground</h1>
    <p class="lead">
      Talk to a model through this place’s own gateway: held, counted and paid from this wallet like
      any request.
    </p>
    ${walletTabs(playgroundPath)}
    ${models.length > 0 ? html`<chat-playground>${form(token, playgroundPath, fields, 'playing')}</chat-playground>` : noModels}`
  return { title: 'Playground', main, scripts: ['chat-playground.js'] }
}
