import { errorExamples as gatewayExamples } from '../../gateway/error-examples.ts'
import * as gateway from '../../gateway/error-response.ts'
import { ApiError, type GatewayErrorName, type HostingErrorName } from '../../kernel/errors.ts'
import { type Html, type Part, prose } from '../../kernel/html.ts'
import * as hosting from '../../people/error-response.ts'
import { keysOf } from '../components.ts'
import { errorExamples as hostingExamples } from '../guide/guide.ts'
import { type Column, dataTable } from '../lists.ts'

const hostingError = <N extends HostingErrorName>(name: N) =>
  hosting.errorEnvelope(new ApiError<N>(name, ...hostingExamples[name]))

const gatewayError = <N extends GatewayErrorName>(name: N) =>
  gateway.errorEnvelope(new ApiError<N>(name, ...gatewayExamples[name]))

const code = (text: string | null): Part => text !== null && prose`<code>${text}</code>`

const errorList = (name: string, heads: Column[], rows: Part[][]): Html =>
  prose`<details>
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

export const errors = prose`<article>
  <h1>Errors</h1>
  <p>
    Every message says what happened and what to do next. Below 500 the request has to change. From
    500 on the message names the side that failed: this server, its operator or a provider. Messages
    are examples: branch on the code.
  </p>
  <h2>Agent API</h2>
  <p>
    Every error is <code>{ "error", "code" }</code>. Status 429 has a
    <code>Retry-After</code> header.
  </p>
  ${errorList('errors of the Agent API', ['Code', 'Status', messageColumn], hostingRows())}
  <h2>Model gateway</h2>
  <p>
    Errors have OpenAI’s format: <code>{ "error": { "message", "type", "param", "code" } }</code>.
    <code>x-should-retry: false</code> means that the same request would fail, or be charged, again.
  </p>
  ${errorList('errors of the model gateway', ['Type', 'Status', 'Param', 'Code', messageColumn], gatewayRows())}
</article>`
