import addFormats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

import { isRecord, recordOf } from '../../kernel/schema.ts'
import type { DescribedOperation } from '../../server/http/api-description.ts'
import type { Document } from './document.ts'

/**
 * Checks responses against the OpenAPI document: status, content type and every field of the body.
 */
export class ResponseChecker {
  /** Compiles fast: most schemas check few responses, and openapi.test.ts validates them. */
  private readonly ajv = new Ajv2020({
    strict: false,
    verbose: true,
    validateSchema: false,
    addUsedSchema: false,
    code: { optimize: false },
  })
  private readonly checks = new Map<string, ValidateFunction>()

  /** `open`: operations whose responses may have fields beyond the document, of an upstream. */
  constructor(
    document: Document,
    private readonly open: ReadonlySet<string> = new Set(),
  ) {
    addFormats.default(this.ajv)
    const { components } = document
    // Schemas that many operations share are compiled once.
    this.ajv.addSchema({ $id: 'closed', components: closed(components) })
    this.ajv.addSchema({ $id: 'open', components })
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
    if (!described) {
      const known = Object.keys(responses).join(', ')
      return `${operationId} returns the undocumented status ${status} (declared: ${known})`
    }
    const sent = headers.get('content-type') ?? ''
    const all = Object.entries(described.content)
    if (sent === '' && all.length === 0) return undefined
    const found = all.find(([declared]) => isOfType(sent, declared))
    if (!found) {
      const known = all.map(([type]) => type).join(', ') || 'none'
      return `${operationId} ${status} is ${sent || 'of no media type'} (declared: ${known})`
    }
    const [type, media] = found
    if (type !== 'application/json' || body === undefined) return undefined
    const check = this.checkOf(`${operationId} ${status}`, operationId, media?.schema)
    if (check(body)) return undefined
    const [error] = check.errors ?? []
    const { instancePath, message, params, data } = { ...error }
    const value = JSON.stringify(data)?.slice(0, 200)
    return `${operationId} ${status} ${instancePath}: ${message} ${JSON.stringify(params)}, not ${value}`
  }

  private checkOf(name: string, operationId: string, schema: unknown): ValidateFunction {
    const known = this.checks.get(name)
    if (known) return known
    // The OpenAPI document itself follows an external schema, which the linters check.
    const isOpen = operationId === 'get_openapi' || this.open.has(operationId)
    const own = isOpen ? schema : closed(schema)
    const shared = isOpen ? 'open' : 'closed'
    const check = this.ajv.compile(isRecord(own) ? withShared(own, shared) : {})
    this.checks.set(name, check)
    return check
  }
}

/** Compares a Content-Type with the media type or range ("audio/*") of a document. */
function isOfType(sent: string, declared: string): boolean {
  const type = sent.replace(/;.*/, '').trim()
  return declared === '*/*' || type === declared || `${type.split('/')[0]}/*` === declared
}

/** Returns a schema that finds the components in another one of this id. */
function withShared(schema: Record<string, unknown>, id: string): Record<string, unknown> {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${id}#/`)
  return recordOf(JSON.parse(text))
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
