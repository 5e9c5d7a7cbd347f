import { Ajv } from '@modelcontextprotocol/server/validators/ajv'

import type { Json } from '../../kernel/schema.ts'
import type { Tool } from './tools.ts'

const ajv = new Ajv({ strict: false, validateFormats: false })
type Check = ReturnType<typeof ajv.compile>
type SchemaError = NonNullable<Check['errors']>[number]
const checks = new Map<Tool, Check>()

/** Returns the first problem with the arguments of a call, without repeating their values. */
export function findInputProblem(tool: Tool, args: Json): string | undefined {
  const check = checks.get(tool) ?? ajv.compile(tool.definition.inputSchema)
  checks.set(tool, check)
  if (!check(args)) return describe(check.errors?.[0])
  // An empty or dotted segment would change the path of the operation.
  const bad = [...tool.places].find(
    ([name, place]) => place === 'path' && /^\.{0,2}$/.test(String(args[name])),
  )
  return bad && `"${bad[0]}" is invalid.`
}

function describe(error: SchemaError | undefined): string {
  const field = error?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const inside = (name: unknown): string => `${field && `${field}.`}${String(name).slice(0, 100)}`
  switch (error?.keyword) {
    case 'additionalProperties': {
      const name = inside(error.params['additionalProperty'])
      return `"${name}" is not a field of this operation. Remove it.`
    }
    case 'required':
      return `"${inside(error.params['missingProperty'])}" is missing.`
    case 'enum':
      return `"${field}" is one of ${[error.params['allowedValues']].flat().join(', ')}.`
    default:
      return `"${field}" ${error?.message ?? 'is invalid'}.`
  }
}
