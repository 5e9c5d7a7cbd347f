import { demoBuilder } from '../../apps/models/model-call.ts'
import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { sha256 } from '../../kernel/ids.ts'
import { fileBytesMax, playModelsMax, promptCharsMax } from '../../kernel/limits.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { withQuery } from '../components.ts'
import { alert, button, hiddenField, postForm, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { modeNames } from '../models/mode-names.ts'
import { type Mode, modeOf, modes } from '../models/modes.ts'
import { shortPrice } from '../models/prices.ts'
import { renderFile } from '../packs/markdown.ts'
import { playgroundPath } from '../paths.ts'
import { type ChatDraft, parameterPanel, type Turn } from './draft.ts'

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
