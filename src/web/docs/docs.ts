import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import { ApiError, type GatewayErrorName, type HostingErrorName } from '../../errors.ts'
import * as gateway from '../../gateway/envelope.ts'
import { examples as gatewayExamples } from '../../gateway/examples.ts'
import * as hosting from '../../hosting/envelope.ts'
import { examples as hostingExamples } from '../../hosting/start/examples.ts'
import { keysOf } from '../components.ts'
import { type Column, dataTable } from '../data-table.ts'
import type { Page } from '../layout.ts'
import { renderGuides } from './guides.ts'

/** How to use both APIs: guides, where the references are, and all that either can refuse. */
export function docsPage(ctx: AppContext): Page {
  return {
    title: 'Docs',
    path: '/docs',
    section: '/docs',
    description: 'Guides to publishing, models, MCP, remixes and webhooks, and every error.',
    scripts: ['copy-line.js'],
    main: html`<div class="docs">
      <h1>Docs</h1>
      <p class="lead">Two APIs, one key: one makes and hosts apps, the other speaks to models.</p>
      ${references(ctx)}${renderGuides(ctx)}${errors}
    </div>`,
  }
}

function references({ urls }: AppContext): Html {
  const { base, gateway: models, mcp } = urls
  return html`<section>
    <h2>References</h2>
    <ul class="three">
      <li>
        <h3><a href="${base}/docs#operations">Agent API</a></h3>
        <p>Publish, build, share, remix and be told, at <code>${base}</code></p>
        <p class="small"><a href="${base}/openapi.json">OpenAPI document</a></p>
      </li>
      <li>
        <h3><a href="${base}/docs#models">Model gateway</a></h3>
        <p>OpenAI’s HTTP in front of many models, at <code>${models}/v1</code></p>
        <p class="small">
          <a href="${models}/v1/openapi.json">OpenAPI document</a> ·
          <a href="/catalogue">Models and prices</a>
        </p>
      </li>
      <li>
        <h3><a href="#mcp">MCP</a></h3>
        <p>The operations as tools for an agent, at <code>${mcp}</code></p>
        <p class="small"><a href="/skill.md">Agent skill</a> · <a href="/llms.txt">llms.txt</a></p>
      </li>
    </ul>
  </section>`
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

const messageColumn = { long: 'What it says' }

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
  <p>Each says what to do next. Sentences are examples: branch on the codes.</p>
  <h3>Agent API</h3>
  <p>Every error is <code>{ "error", "code" }</code>; 429 carries <code>Retry-After</code>.</p>
  ${errorList('errors of the Agent API', ['Code', 'Status', messageColumn], hostingRows())}
  <h3>Model gateway</h3>
  <p>
    Every error is OpenAI’s: <code>{ "error": { "message", "type", "param", "code" } }</code>.
    <code>x-should-retry: false</code> stands where the same request would be refused, or charged,
    again.
  </p>
  ${errorList('errors of the model gateway', ['Type', 'Status', 'Param', 'Code', messageColumn], gatewayRows())}
</section>`
