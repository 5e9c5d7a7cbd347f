import { listByMaker } from '../../apps/apps.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { errorExamples as gatewayExamples } from '../../gateway/error-examples.ts'
import * as gateway from '../../gateway/error-response.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type GatewayErrorName, type HostingErrorName } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import * as hosting from '../../people/error-response.ts'
import type { Person } from '../../people/people.ts'
import { keysOf, section } from '../components.ts'
import { inputField } from '../forms.ts'
import { errorExamples as hostingExamples } from '../guide/guide.ts'
import type { Page } from '../layout.ts'
import { type Column, dataTable, sideNav } from '../lists.ts'
import { getGuides, renderGuides } from './guides.ts'

const agentsMax = 50

/** The fields whose values its script puts into the examples. They stay in the browser. */
const docsValues: Html = html`<docs-values>
  <details>
    <summary>Use my key and IDs in the examples</summary>
    <form class="form">
      <div class="triple">
        ${inputField({ label: 'API key', name: 'KEY', type: 'password', isOptional: true, max: 100 })}
        ${inputField({ label: 'App ID', name: 'ID', isOptional: true, max: 40 })}
      </div>
      <p class="actions">
        <button type="button" class="button quiet slim fill-ids">Fill in my newest app</button>
        <button type="button" class="button quiet slim clear">Clear</button>
      </p>
      <p class="small">
        The values stay in this tab. Create a key in <a href="/agents">Agents</a> or
        <a href="/wallet#keys">your wallet</a>. <span role="status"></span>
      </p>
    </form>
  </details>
</docs-values>`

/** Returns the ID of the newest app of a person's agents. */
export async function findNewestApp(ctx: AppContext, person: Person): Promise<string | null> {
  const agents = (await listActingAgents(ctx, person)).slice(0, agentsMax)
  const lists = await Promise.all(agents.map(({ id }) => listByMaker(ctx, id, 1)))
  const [newest] = lists.flat().toSorted((a, b) => b.created - a.created)
  return newest?.id ?? null
}

/** Renders the guides, the API references and the errors of both APIs. */
export function docsPage(ctx: AppContext): Page {
  return {
    title: 'Docs',
    path: '/docs',
    section: '/docs',
    description: 'Guides to publishing, models, MCP, remixes and webhooks, and all errors.',
    scripts: ['copy-line.js', 'docs-values.js'],
    main: html`<div class="docs with-side-nav">
      ${sideNav('On this page', contents(ctx))}
      <div>
        <h1>Docs</h1>
        <p class="lead">Two APIs, one key: one creates and hosts apps, the other calls models.</p>
        ${references(ctx)}${docsValues}${renderGuides(ctx)}${errors}
      </div>
    </div>`,
  }
}

const contents = (ctx: AppContext) => ({
  Guides: Object.fromEntries(getGuides(ctx).map(({ id, title }) => [`#${id}`, title])),
  Reference: {
    '/docs/api#operations': 'Agent API',
    '/docs/api#models': 'Model gateway',
    '#errors': 'Errors',
    '/catalogue': 'Models and prices',
    '/skill.md': 'Agent skill',
  },
})

function references({ urls }: AppContext): Html {
  const { base, gateway: models, mcp } = urls
  return section(
    'API reference',
    html`<ul class="three">
      <li>
        <h3><a href="/docs/api#operations">Agent API</a></h3>
        <p>Publish, build, share and remix apps at <code>${base}</code></p>
        <p class="small"><a href="${base}/openapi.json">OpenAPI document</a></p>
      </li>
      <li>
        <h3><a href="/docs/api#models">Model gateway</a></h3>
        <p>The OpenAI API in front of many models at <code>${models}/v1</code></p>
        <p class="small">
          <a href="${models}/v1/openapi.json">OpenAPI document</a> ·
          <a href="/catalogue">Models and prices</a>
        </p>
      </li>
      <li>
        <h3><a href="#mcp">MCP</a></h3>
        <p>API operations as tools for an agent at <code>${mcp}</code></p>
        <p class="small"><a href="/skill.md">Agent skill</a> · <a href="/llms.txt">llms.txt</a></p>
      </li>
    </ul>`,
  )
}

const hostingError = <N extends HostingErrorName>(name: N) =>
  hosting.errorEnvelope(new ApiError<N>(name, ...hostingExamples[name]))

const gatewayError = <N extends GatewayErrorName>(name: N) =>
  gateway.errorEnvelope(new ApiError<N>(name, ...gatewayExamples[name]))

const code = (text: string | null): Part => text !== null && html`<code>${text}</code>`

const errorList = (name: string, heads: Column[], rows: Part[][]): Html =>
  html`<details>
    <summary>All ${rows.length} ${name}</summary>
    ${dataTable(name, heads, rows)}
  </details>`

const messageColumn = { long: 'Message' }

const hostingRows = (): Part[][] =>
  keysOf(hostingExamples)
    .map(hostingError)
    .map(({ status, body }) => [code(body.code), status, body.error])

const gatewayRows = (): Part[][] =>
  keysOf(gatewayExamples)
    .map(gatewayError)
    .map(({ status, body: { error } }) => [
      code(error.type),
      status,
      code(error.param),
      code(error.code),
      error.message,
    ])

const errors = html`<section>
  <h2 id="errors">Errors</h2>
  <p>Every message says what to do next. Messages are examples: branch on the code.</p>
  <h3>Agent API</h3>
  <p>
    Every error is <code>{ "error", "code" }</code>. Status 429 has a
    <code>Retry-After</code> header.
  </p>
  ${errorList('errors of the Agent API', ['Code', 'Status', messageColumn], hostingRows())}
  <h3>Model gateway</h3>
  <p>
    Errors have OpenAI’s format: <code>{ "error": { "message", "type", "param", "code" } }</code>.
    <code>x-should-retry: false</code> means that the same request would fail, or be charged, again.
  </p>
  ${errorList('errors of the model gateway', ['Type', 'Status', 'Param', 'Code', messageColumn], gatewayRows())}
</section>`
