import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { codeTabs, section } from '../components.ts'
import { fileField, inputField } from '../forms.ts'
import { type DescribedOperation, type Schema, typeOf } from '../guide/read-description.ts'
import type { Layout, Page } from '../layout.ts'
import { dataTable, sideNav } from '../lists.ts'
import { sendPage } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { listApis, operationPath, type ReadOpenApi, type ReferencedApi } from './api-operations.ts'
import { methodName } from './api-page.ts'
import { turnNav } from './docs.ts'
import { type BodyKind, codeLanguages, type CodeRequest, requestCode } from './request-code.ts'

/** Nested values of an example below this depth are left out. */
const exampleDepthMax = 6

/** Returns the record that a schema names, or the schema itself. */
function resolveSchema(given: unknown, records: Record<string, Schema>): Schema {
  const schema: Schema = Object(given)
  const { $ref } = schema
  if (typeof $ref !== 'string') return schema
  return Object(records[$ref.replace(/.*\//, '')])
}

/**
 * Returns a value that a schema allows, for an example: one that the schema has, or else its
 * required fields.
 */
function exampleOf(
  given: unknown,
  records: Record<string, Schema>,
  depth = exampleDepthMax,
): unknown {
  const schema = resolveSchema(given, records)
  const { examples, default: initial, enum: values, properties, items, type } = schema
  for (const list of [examples, values]) if (Array.isArray(list)) return list[0]
  if (initial !== undefined) return initial
  const [variant] = [schema['anyOf'] ?? schema['oneOf'] ?? []].flat()
  if (variant !== undefined && !properties) return exampleOf(variant, records, depth - 1)
  if (properties) {
    const required = [schema['required'] ?? []].flat()
    const fields = Object.entries(Object(properties)).filter(([name]) => required.includes(name))
    return Object.fromEntries(
      depth > 0 ? fields.map(([name, field]) => [name, exampleOf(field, records, depth - 1)]) : [],
    )
  }
  if (items) return depth > 0 ? [exampleOf(items, records, depth - 1)] : []
  return plainExample(type, schema)
}

function plainExample(type: unknown, { minimum, format }: Schema): unknown {
  const [name] = [type].flat()
  if (name === 'integer' || name === 'number') return typeof minimum === 'number' ? minimum : 1
  if (name === 'boolean') return true
  if (name === 'string') return format === 'binary' ? '@file' : '...'
  return name === 'object' || name === undefined ? {} : null
}

type Records = Record<string, Schema>

/** Fields nested deeper are only named by their type. */
const depthMax = 4
/** A longer pattern says less than the description. */
const patternCharsMax = 32

/** Returns the type of a field, without the fields of an object. */
function typeName(given: unknown): string {
  const { description, properties, pattern, ...schema } = Object(given)
  if (properties) return 'object'
  const isShort = typeof pattern === 'string' && pattern.length <= patternCharsMax
  return typeOf(isShort ? { ...schema, pattern } : schema, typeName)
}

/** Returns the objects that a schema allows: itself, its items or its variants. */
function objectsOf(given: unknown, records: Records, depth: number): Schema[] {
  const schema = resolveSchema(given, records)
  const { properties, items, allOf } = schema
  if (properties) return [schema]
  if (depth === 0) return []
  if (items) return objectsOf(items, records, depth - 1)
  const variants = schema['anyOf'] ?? schema['oneOf'] ?? allOf
  return Array.isArray(variants)
    ? variants.flatMap((variant) => objectsOf(variant, records, depth - 1))
    : []
}

/** Renders the fields of a schema. Those of objects inside it open below their field. */
function fieldList(schema: unknown, records: Records, depth = depthMax): Part {
  const objects = depth > 0 ? objectsOf(schema, records, depth) : []
  return objects.map(
    ({ properties, required }, at) =>
      html`${at > 0 && html`<p class="small">or</p>`}
        <ul class="fields" dir="ltr">
          ${Object.entries(Object(properties)).map(([name, field]) =>
            fieldItem(name, field, [required].flat().includes(name), records, depth),
          )}
        </ul>`,
  )
}

function fieldItem(
  name: string,
  field: unknown,
  isRequired: boolean,
  records: Records,
  depth: number,
): Part {
  const { description }: { description?: string } = Object(field)
  const inner = fieldList(field, records, depth - 1)
  const hasInner = Array.isArray(inner) && inner.length > 0
  return html`<li>
    <p>
      <code>${name}</code> <span class="small" lang="en">${typeName(field)}</span>
      ${isRequired && html`<strong class="small">required</strong>`}
    </p>
    ${description !== undefined && html`<p lang="en">${description}</p>`}
    ${
      hasInner &&
      html`<details>
        <summary>Fields of ${name}</summary>
        ${inner}
      </details>`
    }
  </li>`
}

/** Renders parameters of a path or a query like the fields of a body. */
const parameterList = (
  parameters: { name: string; required: boolean; description?: string; schema: Schema }[],
): Part =>
  html`<ul class="fields" dir="ltr">
    ${parameters.map(({ name, required, description, schema }) =>
      fieldItem(name, { ...schema, ...(description && { description }) }, required, {}, 1),
    )}
  </ul>`

const bodyKinds: Record<string, BodyKind> = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'multipart/form-data': 'multipart',
}

/** The pages of operations. */
export const operationRoutes = (ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) =>
  pageRoutes(ctx, layout).get('/docs/api/:api/:id', ({ input, params }) =>
    sendPage(input, `/docs/api/${params.api}/${params.id}`, () =>
      operationPage(ctx, layout, readOpenApi, params),
    ),
  )

/** Renders the page of an operation: to read, to copy and to try. Throws `not_found`. */
async function operationPage(
  ctx: AppContext,
  layout: Layout,
  readOpenApi: ReadOpenApi,
  { api: apiId, id }: { api: string; id: string },
): Promise<Page> {
  checkAgentsOn(ctx)
  const api = (await listApis(ctx, readOpenApi)).find((one) => one.id === apiId)
  const at = api?.operations.findIndex(({ operationId }) => operationId === id) ?? -1
  const operation = api?.operations[at]
  if (!api || !operation) {
    throw new ApiError('not_found', { what: 'operation', see: 'See /docs/api.' })
  }
  const linked = (one: DescribedOperation | undefined) =>
    one && { path: operationPath(api, one), title: one.operationId }
  const [before, after] = [api.operations[at - 1], api.operations[at + 1]]
  return {
    title: `${operation.operationId} · ${t('API reference')}`,
    path: operationPath(api, operation),
    section: '/docs',
    description: operation.summary,
    styles: ['docs.css'],
    scripts: ['copy-line.js', 'try-operation.js'],
    headers: { 'content-security-policy': policyOf(ctx, layout) },
    main: html`<div class="docs with-side-nav">
      ${areaNav(api, operation)}
      <div>
        <h1 lang="en" dir="ltr">${operation.summary.replace(/\.$/, '')}</h1>
        <p class="route" dir="ltr">
          ${methodName(operation)}<code>${api.url}${operation.path}</code>
        </p>
        <div class="operation">
          <div>${about(operation)}</div>
          ${requestPanel(api, operation)}
          <div>${description(api, operation)}</div>
        </div>
        ${turnNav(t('Previous and next'), linked(before), linked(after))}
      </div>
    </div>`,
  }
}

/** The page calls both APIs, which may have hosts of their own. */
function policyOf({ urls: { base, gateway } }: AppContext, { headers }: Layout): string {
  const origins = [...new Set([base, gateway].map((url) => new URL(url).origin))].join(' ')
  return `${headers['content-security-policy']}`.replace(/connect-src [^;]+/, `$& ${origins}`)
}

/** Links the operations of the same area. */
function areaNav(api: ReferencedApi, operation: DescribedOperation): Html {
  const [area = ''] = operation.tags
  const all = api.operations.filter(({ tags }) => tags.includes(area))
  const links = Object.fromEntries(all.map((one) => [operationPath(api, one), one.operationId]))
  const start = { '/docs': t('Start'), '/docs/api': t('API reference') }
  const groups = [
    { title: t('Docs'), links: start },
    { title: area, links },
  ]
  return sideNav(t('Operations'), groups, operationPath(api, operation))
}

/** Returns the one who may call an operation, in words. */
function accessOf({ security }: DescribedOperation): string {
  const ways = security.flatMap((way) => Object.keys(way))
  if (ways.length === 0) return t('Needs no key.')
  if (!ways.includes('session')) return t('Needs an API key.')
  return ways.includes('key')
    ? t('For people: needs a personal key, or that you are signed in here.')
    : t('For people: needs that you are signed in here.')
}

/** Returns the first media type of the body with its schema. */
const bodyOf = ({ requestBody }: DescribedOperation) => {
  const [first] = Object.entries(requestBody?.content ?? {})
  return first && { type: first[0], schema: first[1].schema }
}

const about = (operation: DescribedOperation): Html =>
  html`${operation.description !== undefined && html`<p lang="en" dir="ltr">${operation.description}</p>`}
    <p>${accessOf(operation)} As a tool over MCP: <code>${operation.operationId}</code>.</p>`

function description(api: ReferencedApi, operation: DescribedOperation): Html {
  const { records } = api
  const { parameters = [], responses } = operation
  const body = bodyOf(operation)
  const all = Object.entries(responses)
  const successes = all.filter(([status]) => Number(status) < 300)
  const errors = all.filter(([status]) => Number(status) >= 300)
  return html`${parameters.length > 0 && section(t('Parameters'), parameterList(parameters))}
  ${
    body &&
    section(
      t('Body'),
      html`<p><code>${body.type}</code></p>
        ${fieldList(body.schema, records)}`,
    )
  }
  ${successes.map(([status, { description: phrase, content }]) =>
    section(
      t('Response {status}', { status }),
      html`<p lang="en" dir="ltr">${phrase} <code>${Object.keys(content).join(', ')}</code></p>
        ${fieldList(Object.values(content)[0]?.schema, records)}`,
    ),
  )}
  ${
    errors.length > 0 &&
    section(
      t('Errors'),
      html`${dataTable(
          t('Errors'),
          [t('Status'), { long: t('Codes') }],
          errors.map(([status, { description: codes }]) => [
            status,
            html`<span lang="en" dir="ltr">${codes}</span>`,
          ]),
        )}
        <p class="small"><a href="/docs/errors">What each code means</a></p>`,
    )
  }`
}

/** Returns the example body of an operation, by its media type. */
function exampleRequest(api: ReferencedApi, operation: DescribedOperation): CodeRequest {
  const { method, path, parameters = [], security } = operation
  const required = parameters.filter((one) => one.in === 'query' && one.required)
  const query = required.map(({ name }) => `${name}={${name}}`).join('&')
  const request = {
    method,
    url: `${api.url}${path}${query === '' ? '' : `?${query}`}`,
    hasKey: security.some((way) => 'key' in way),
  }
  const body = bodyOf(operation)
  if (!body) return request
  const kind = lookUp(bodyKinds, body.type) ?? 'file'
  if (kind === 'file') return { ...request, file: 'file' }
  const example = exampleOf(body.schema, api.records)
  if (kind === 'json') return { ...request, json: JSON.stringify(example, null, 2) }
  const fields = Object.entries(Object(example)).map(([name, value]) => [name, String(value)])
  return { ...request, [kind]: Object.fromEntries(fields) }
}

/** The fields of a form body by name; the value of a file starts with `@`. */
function formFields(api: ReferencedApi, operation: DescribedOperation, request: CodeRequest): Part {
  const { properties } = resolveSchema(bodyOf(operation)?.schema, api.records)
  const values = request.form ?? request.multipart
  return (
    values &&
    Object.keys(Object(properties)).map((name) =>
      values[name]?.startsWith('@')
        ? fileField({ label: name, name: `body:${name}`, isOptional: true })
        : inputField({
            label: name,
            name: `body:${name}`,
            value: values[name],
            max: 8_000,
            isOptional: true,
          }),
    )
  )
}

/** The request as code, and a form that sends it. */
function requestPanel(api: ReferencedApi, operation: DescribedOperation): Html {
  const request = exampleRequest(api, operation)
  const { json, file, hasKey } = request
  const parameters = operation.parameters?.filter((one) => one.in !== 'header') ?? []
  return html`<try-operation class="request" data-request="${JSON.stringify(request)}">
    <h2>Request</h2>
    ${codeTabs(
      codeLanguages,
      (name) => requestCode(name, request),
      (language) => t('Request in {language}', { language }),
    )}
    <details class="folded">
      <summary class="button quiet">Try it</summary>
      <form class="form">
        <h2>Try it</h2>
        ${parameters.map((one) =>
          inputField({
            label: one.name,
            name: `${one.in}:${one.name}`,
            max: 500,
            isOptional: !one.required,
          }),
        )}
        ${
          json !== undefined &&
          html`<label class="field"
            ><span>Body</span
            ><textarea class="code" name="json" rows="8" spellcheck="false" autocapitalize="none">
${json}</textarea>
          </label>`
        }
        ${formFields(api, operation, request)}
        ${file !== undefined && fileField({ label: t('File'), isOptional: true })}
        ${hasKey && inputField({ label: t('API key'), name: 'KEY', type: 'password', max: 200, isOptional: true, hint: t('Stays in this tab.') })}
        <p class="actions">
          <button class="button">Send request</button
          ><button type="button" class="button quiet stop" hidden>Stop</button>
        </p>
      </form>
    </details>
    <p class="small sent" role="status"></p>
    <pre class="reply" tabindex="0" aria-label="Response" hidden></pre>
  </try-operation>`
}
