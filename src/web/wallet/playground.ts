import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import * as catalogue from '../../gateway/catalogue/catalogue.ts'
import type { ModelShape } from '../../gateway/catalogue/schemas.ts'
import { playModelsMax, promptCharsMax } from '../../limits.ts'
import type { Page } from '../layout.ts'
import { empty } from '../lists.ts'
import { perMillion } from '../pages/catalogue.ts'
import { addressOf } from '../parts.ts'
import { playPath } from '../paths.ts'
import { alert, area, choice, form, hidden } from '../people/form.ts'
import type { Draft, Turn } from './asking.ts'
import { placesOf } from './parts.ts'

/** Bounds the hold of a first try; it may be raised. */
const tokensDefault = '1024'

/** A draft in which nothing was said yet, for the model that a link names. */
export const emptyDraft = (model: string): Draft => ({
  model,
  system: '',
  max_tokens: tokensDefault,
  turns: [],
  text: '',
})

const isPriced = ({ price }: ModelShape): boolean => price.prompt !== undefined

/** The chat models that can be run, the one that is chosen always among them. */
function choices(models: ModelShape[], chosen: string): ModelShape[] {
  const first = models.slice(0, playModelsMax)
  const named = models.find(({ id }) => id === chosen)
  return named && !first.includes(named) ? [named, ...first] : first
}

/** Where none was chosen, the one whose answers cost the least. */
const cheapest = (models: ModelShape[]): string =>
  models.toSorted((a, b) => Number(a.price.completion) - Number(b.price.completion))[0]?.id ?? ''

function modelField(models: ModelShape[], chosen: string): Html {
  const options = models.map(({ id, price }) => {
    const [into, out] = [perMillion(price.prompt), perMillion(price.completion)]
    return [id, `${id} · ${into} / ${out}`] as const
  })
  return html`<div>
    ${choice({ label: 'Model', name: 'model', value: chosen, options })}
    <p class="small">
      USD for 1M tokens in / out, as in the <a href="/catalogue?type=chat">catalogue</a>.
    </p>
  </div>`
}

const turn = ({ role, content, told }: Turn): Html =>
  html`<article class="turn ${role}">
    <h2>${role === 'user' ? 'You' : 'Model'}</h2>
    <p class="words">${content}</p>
    ${told !== undefined && html`<p class="small">${told}</p>`}
  </article>`

const settings = (models: ModelShape[], { model, system, max_tokens }: Draft): Html =>
  html`<div class="settings">
    ${modelField(models, model)}
    ${area({ label: 'System', name: 'system', value: system, max: promptCharsMax })}
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

const noModels = empty(
  'No chat model is served here',
  'Models come from the operator’s keys and settings.',
  html`<a class="button quiet" href="/catalogue">Catalogue</a>`,
)

/** What a playground's page is drawn from. */
export interface PlayView {
  token: string
  draft: Draft
  /** What the wallet has to spend. */
  left: string
  said?: string | undefined
}

/**
 * A page that talks to a model through the gateway. Without its script each answer is a page; the
 * conversation stands in the form, and nowhere else.
 */
export function playPage(ctx: AppContext, { token, draft, left, said }: PlayView): Page {
  const able = catalogue.list(ctx, 'chat').filter(isPriced)
  const model = draft.model || cheapest(able)
  const models = choices(able, model)
  const turns = draft.turns ?? []
  const talk = html`<div class="talk">
    <div class="log" role="log" aria-label="Conversation" tabindex="0">${turns.map(turn)}</div>
    ${alert(said)}
    ${area({ label: 'Message', name: 'text', value: draft.text, max: promptCharsMax, required: true })}
    <p class="acts">
      <button class="button">Send</button
      ><a class="button quiet" href="${addressOf(playPath, { model })}">New conversation</a>
    </p>
    <p class="small">In the wallet: <span data-left>${left}</span></p>
  </div>`
  const fields = html`${hidden('turns', JSON.stringify(turns))}${talk}${settings(models, { ...draft, model })}`
  const main = html`<h1>Playground</h1>
    <p class="lead">
      Talk to a model through this place’s own gateway: held, counted and paid from this wallet like
      any request.
    </p>
    ${placesOf(playPath)}
    ${models.length > 0 ? html`<play-ground>${form(token, playPath, fields, 'playing')}</play-ground>` : noModels}`
  return { title: 'Playground', main, scripts: ['play-ground.js'] }
}
