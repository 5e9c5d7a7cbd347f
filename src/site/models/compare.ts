import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/catalog.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { trail, withQuery } from '../components.ts'
import { button, hiddenField, selectField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { modelPath, modelsPath, playgroundPath } from '../paths.ts'
import { sendUncached } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { modeOf } from './modes.ts'
import { factsOf, modeNames, shortMeasurements } from './parts.ts'

export const comparePath = `${modelsPath}/compare`
const comparedMax = 4
const listedMax = 500

const queryOf = (ids: string[]): string =>
  `${comparePath}?${ids.map((id) => `model=${encodeURIComponent(id)}`).join('&')}`

/** The comparison of models. */
export const compareRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get(comparePath, ({ input }) =>
    sendUncached(input, () => comparePage(ctx, input.query)),
  )

/** Renders the facts of up to four models in columns. Unknown models are left out. */
function comparePage(ctx: AppContext, query: URLSearchParams): Page {
  const all = catalog.listModels(ctx)
  const ids = [...new Set(query.getAll('model'))]
  const models = ids
    .flatMap((id) => all.find((model) => model.id === id) ?? [])
    .slice(0, comparedMax)
  const others = all.filter((one) => !models.includes(one)).slice(0, listedMax)
  const main = html`${trail([modelsPath, t('Models')])}
    <h1>Compare models</h1>
    ${models.length === 0 ? nothing : comparison(ctx, models)}
    ${models.length < comparedMax && addForm(models, others)}`
  return { title: t('Compare models'), section: modelsPath, main }
}

const nothing = emptyState(
  msg('No models selected'),
  msg('Select models in the list, or add one here.'),
  html`<a class="button quiet" href="${modelsPath}">All models</a>`,
)

const addForm = (models: ModelResponse[], others: ModelResponse[]): Html =>
  html`<form class="form line below" action="${comparePath}">
    ${models.map(({ id }) => hiddenField('model', id))}
    ${selectField({ label: t('Add a model'), name: 'model', value: '', options: others.map(({ id }) => [id, id] as const) })}
    ${button(t('Add'), 'quiet')}
  </form>`

function comparison(ctx: AppContext, models: ModelResponse[]): Html {
  const ids = models.map(({ id }) => id)
  const head = ({ id, name }: ModelResponse): Html =>
    html`<th scope="col">
      <a href="${modelPath(id)}">${name}</a><code>${id}</code>
      ${models.length > 1 && html`<a class="small" href="${queryOf(ids.filter((one) => one !== id))}">Remove<span class="visually-hidden"> ${id}</span></a>`}
    </th>`
  const known = models.map((model) => factsOf(model))
  const measured = models.map(({ id }) => measuredFacts(ctx, id))
  const columns = models.map((_, at) => new Map([...(known[at] ?? []), ...(measured[at] ?? [])]))
  const names = new Set([known, measured].flat(2).map(([name]) => name))
  const line = (name: Text): Html =>
    html`<tr>
      <th scope="row">${name}</th>
      ${columns.map((facts) => html`<td>${facts.get(name) ?? '–'}</td>`)}
    </tr>`
  return html`<div class="table-scroll" role="region" aria-label="Comparison" tabindex="0">
      <table class="comparison">
        <thead>
          <tr>
            <td></td>
            ${models.map(head)}
          </tr>
        </thead>
        <tbody>
          ${[...names].map(line)}
        </tbody>
      </table>
    </div>
    ${tryBoth(models)}`
}

function measuredFacts(ctx: AppContext, id: string): [string, Part][] {
  const found = ctx.catalog.find(id)?.model
  if (!found) return []
  const [latency, uptime] = shortMeasurements(ctx, found)
  return [
    [t('Latency (median, measured here)'), latency],
    [t('Uptime (24 hours, measured here)'), uptime],
  ]
}

/** Links to the playground with the first two models, if they serve the same requests. */
function tryBoth([first, second, third]: ModelResponse[]): Part {
  if (!first || !second || modeOf(first) !== modeOf(second)) return false
  const path = withQuery(playgroundPath, { model: first.id, with: second.id })
  return html`<p class="actions">
    <a class="button" href="${path}"
      >${third ? t('Try the first two side by side') : t('Try side by side')}</a
    >
    <span class="small">${modeNames[modeOf(first)]}: ${first.id} and ${second.id}</span>
  </p>`
}
