import addFormats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

import { isRecord } from '../../core/schema.ts'
import type { DescribedOperation } from '../../http/api-description.ts'
import type { Document } from './document.ts'

/**
 * Checks responses against the OpenAPI document: status, content type and every field of the body.
 */
export class ResponseChecker {
  private readonly ajv = new Ajv2020({ strict: false })
  private readonly checks = new Map<string, ValidateFunction>()
  private readonly components: unknown

  /** `open`: operations whose responses may have fields beyond the document, of an upstream. */
  constructor(
    private readonly document: Document,
    private readonly open: ReadonlySet<string> = new Set(),
  ) {
    addFormats.default(this.ajv)
    this.components = closed(document.components)
  }

  /** Returns the first problem of a response to an operation, or undefined. */
  findError(
    { operationId, responses }: DescribedOperation,
    response: Pick<Response, 'status' | 'headers'> & { body: unknown },
  ): string | undefined {
    const { status, headers, body } = response
    // The overviews declare the internal error of every operation.
    if (status === 500) return undefined
    const described = responses[String(status)]
    if (!described) return `${operationId} returns the undocumented status ${status}`
    const sent = headers.get('content-type') ?? ''
    const all = Object.entries(described.content)
    if (sent === '' && all.length === 0) return undefined
    const found = all.find(([declared]) => isOfType(sent, declared))
    if (!found) return `${operationId} ${status} is ${sent || 'of no media type'}`
    const [type, media] = found
    if (type !== 'application/json' || body === undefined) return undefined
    const check = this.checkOf(`${operationId} ${status}`, operationId, media?.schema)
    if (check(body)) return undefined
    const [error] = check.errors ?? []
    return `${operationId} ${status} ${error?.instancePath}: ${error?.message}`
  }

  private checkOf(name: string, operationId: string, schema: unknown): ValidateFunction {
    const known = this.checks.get(name)
    if (known) return known
    // The OpenAPI document itself follows an external schema, which the linters check.
    const isOpen = operationId === 'get_openapi' || this.open.has(operationId)
    const own = isOpen ? schema : closed(schema)
    const components = isOpen ? this.document.components : this.components
    const whole = isRecord(own) ? { ...own, components } : {}
    const check = this.ajv.compile(whole)
    this.checks.set(name, check)
    return check
  }
}

/** Compares a Content-Type with the media type or range ("audio/*") of a document. */
function isOfType(sent: string, declared: string): boolean {
  const type = sent.replace(/;.*/, '').trim()
  return declared === '*/*' || type === declared || `${type.split('/')[0]}/*` === declared
}

/** Returns a schema whose objects allow no other fields than those it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isRecord(schema)) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, closed(part)]),
  )
  const isObject = schema['type'] === 'object' && isRecord(schema['properties'])
  return isObject ? { additionalProperties: false, ...inner } : inner
}
