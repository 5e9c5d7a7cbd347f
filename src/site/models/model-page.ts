import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/catalog.ts'
import type { Model } from '../../gateway/models/catalog.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t, type Text } from '../../kernel/words/message.ts'
import { codeTabs, copyLine, section, trail, withQuery } from '../components.ts'
import type { Layout, Page } from '../layout.ts'
import { modelPath, modelsPath, playgroundPath } from '../paths.ts'
import { sendUncached } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { codeExample, exampleBody, languages } from './code-examples.ts'
import { comparePath } from './compare.ts'
import { modeOf, modes } from './modes.ts'
import { factsOf, measuredSection } from './parts.ts'

/** The pages of models. */
export const modelRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get(`${modelsPath}/*`, ({ input, params }) =>
    sendUncached(input, () => findModelPage(ctx, params['*'])),
  )

/** Returns the page of a model, also by an ID with a routing suffix. Throws `not_found`. */
function findModelPage(ctx: AppContext, id: string): Page {
  const found = ctx.catalog.find(id)?.model
  if (found) return modelPage(ctx, found)
  throw new ApiError('not_found', { what: 'model', see: t('The list of models has all of them.') })
}

/** Renders the facts of a model and code that calls it. */
function modelPage(ctx: AppContext, found: Model): Page {
  const model = catalog.getModel(ctx, found.id)
  const isPlayable = modes.some((mode) => mode === modeOf(model))
  const isPriced = Object.keys(model.price).length > 0
  const main = html`${trail([modelsPath, t('Models')])}
    <div class="head title">
      <h1>${model.name}</h1>
      <p class="actions">
        ${isPriced && isPlayable && html`<a class="button" href="${withQuery(playgroundPath, { model: model.id })}">Try it</a>`}
        <a class="button quiet" href="${withQuery(comparePath, { model: model.id })}">Compare</a>
      </p>
    </div>
    ${copyLine(model.id, t('Model ID'))}
    ${!isPriced && html`<p class="notice">This model has no price yet, so it cannot be used.</p>`}
    <div class="columns">
      ${section(t('About'), factList(factsOf(model)))}
      <div>
        ${section(t('Use this model'), modelCode(ctx, model))}
        ${section(t('Parameters'), parameterList(model))}
      </div>
    </div>
    ${measuredSection(ctx, found)}`
  return {
    title: model.name,
    path: modelPath(model.id),
    section: modelsPath,
    description: t('{id}: price, context, inputs and example code.', { id: model.id }),
    main,
    scripts: ['copy-line.js'],
  }
}

const factList = (facts: [Text, Part][]): Html =>
  html`<table class="facts-table">
    <tbody>
      ${facts.map(
        ([name, value]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${value}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const parameterList = ({ supported_parameters: names }: ModelResponse): Html =>
  html`<ul class="chips parameters">
    ${names.map((name) => html`<li><code>${name}</code></li>`)}
  </ul>`

const keyLine = html`<p class="small">
  Set <code>KEY</code> to an <a href="/wallet#keys">API key of your wallet</a>.
</p>`

/** A session has no single request, so it has one example. */
const realtimeCode = ({ urls }: AppContext, { id }: ModelResponse): Html =>
  html`${keyLine} ${copyLine(realtimeExample(urls.gateway, id), t('JavaScript example'))}`

/** Code that calls a model in each language. */
function modelCode(ctx: AppContext, model: ModelResponse): Html {
  const mode = modeOf(model)
  if (mode === 'realtime') return realtimeCode(ctx, model)
  const request = { mode, gateway: ctx.urls.gateway, body: exampleBody(mode, model.id) }
  return html`${keyLine}
  ${codeTabs(
    languages,
    (name) => codeExample(name, request),
    (value) => t('{value} example', { value }),
  )}`
}

/** Returns code that runs with Node 22 or Bun as is, with the API key in the variable KEY. */
const realtimeExample = (
  gateway: string,
  model: string,
): string => `const url = '${gateway.replace(/^http/, 'ws')}/v1/realtime?model=${encodeURIComponent(model)}'
const socket = new WebSocket(url, ['realtime', \`openai-insecure-api-key.\${process.env.KEY}\`])
const send = (event) => socket.send(JSON.stringify(event))

socket.onopen = () => {
  send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
  const content = [{ type: 'input_text', text: 'Name a small boat.' }]
  send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
  send({ type: 'response.create' })
}
socket.onmessage = ({ data }) => {
  const event = JSON.parse(data)
  if (event.type === 'response.output_text.done') console.log(event.text)
  if (event.type === 'error') console.error(event.error.message)
  if (event.type === 'response.done' || event.type === 'error') socket.close()
}
socket.onclose = ({ code, reason }) => code === 1000 || console.error(code, reason)`
