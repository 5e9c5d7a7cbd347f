import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/html.ts'
import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import { playModelsMax, promptCharsMax } from '../../limits.ts'
import { perMillion } from '../catalog.ts'
import { withQuery } from '../components.ts'
import { alert, button, form, hiddenField, selectField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { playgroundPath } from '../paths.ts'
import { walletTabs } from './overview.ts'
import type { ChatDraft, Turn } from './playground-chat.ts'

/** Limits the hold of a first request. */
const tokensDefault = '1024'

export const emptyDraft = (model: string): ChatDraft => ({
  model,
  system: '',
  max_tokens: tokensDefault,
  turns: [],
  text: '',
})

const isPriced = ({ price }: ModelResponse): boolean => price.prompt !== undefined

/** Limits the list of models; it always includes the selected one. */
function listedModels(models: ModelResponse[], selected: string): ModelResponse[] {
  const first = models.slice(0, playModelsMax)
  const named = models.find(({ id }) => id === selected)
  return named && !first.includes(named) ? [named, ...first] : first
}

/** The default: the lowest price per output token. */
const cheapestModel = (models: ModelResponse[]): string =>
  models.toSorted((a, b) => Number(a.price.completion) - Number(b.price.completion))[0]?.id ?? ''

function modelField(models: ModelResponse[], selected: string): Html {
  const options = models.map(({ id, price }) => {
    const [into, out] = [perMillion(price.prompt), perMillion(price.completion)]
    return [id, `${id} · ${into} / ${out}`] as const
  })
  return html`<div>
    ${selectField({ label: 'Model', name: 'model', value: selected, options })}
    <p class="small">
      USD per 1M input / output tokens. <a href="/catalogue?type=chat">All chat models</a>
    </p>
  </div>`
}

const renderTurn = ({ role, content, summary }: Turn): Html =>
  html`<article class="turn ${role}">
    <h2>${role === 'user' ? 'You' : 'Model'}</h2>
    <p class="turn-text">${content}</p>
    ${summary !== undefined && html`<p class="small">${summary}</p>`}
  </article>`

const settings = (models: ModelResponse[], { model, system, max_tokens }: ChatDraft): Html =>
  html`<div class="settings">
    ${modelField(models, model)}
    ${textArea({ label: 'System prompt', name: 'system', value: system, max: promptCharsMax })}
    <label class="field"
      ><span>Max tokens</span><span class="hint">Limits the length and the maximum cost.</span
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
  'No chat models available',
  'The operator adds models with provider keys and settings.',
  html`<a class="button quiet" href="/catalogue">Models</a>`,
)

export interface PlaygroundView {
  token: string
  draft: ChatDraft
  /** The available balance as text. */
  left: string
  message?: string | undefined
}

/**
 * Renders a chat with a model. The conversation is stored only in its form: without JavaScript,
 * every turn loads the page again.
 */
export function playgroundPage(
  ctx: AppContext,
  { token, draft, left, message }: PlaygroundView,
): Page {
  const available = catalog.listModels(ctx, 'chat').filter(isPriced)
  const model = draft.model || cheapestModel(available)
  const models = listedModels(available, model)
  const turns = draft.turns ?? []
  const chat = html`<div class="chat">
    <div class="log" role="log" aria-label="Conversation" tabindex="0">
      ${turns.map(renderTurn)}
    </div>
    ${alert(message)}
    ${textArea({ label: 'Message', name: 'text', value: draft.text, max: promptCharsMax, required: true })}
    <p class="actions">
      ${button('Send')}<a class="button quiet" href="${withQuery(playgroundPath, { model })}"
        >New conversation</a
      >
    </p>
    <p class="small">Balance: <span data-left>${left}</span></p>
  </div>`
  const fields = html`${hiddenField('turns', JSON.stringify(turns))}${chat}${settings(models, { ...draft, model })}`
  const main = html`<h1>Playground</h1>
    <p class="lead">Chat with a model through the gateway. Requests are paid from this wallet.</p>
    ${walletTabs(playgroundPath)}
    ${models.length > 0 ? html`<chat-playground>${form(token, playgroundPath, fields, 'playground')}</chat-playground>` : noModels}`
  return { title: 'Playground', main, scripts: ['chat-playground.js'] }
}
