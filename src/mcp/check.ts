import { Ajv } from '@modelcontextprotocol/server/validators/ajv'

import type { Arguments } from './call.ts'
import type { Tool } from './tools.ts'

const ajv = new Ajv({ strict: false, validateFormats: false })
type Check = ReturnType<typeof ajv.compile>
type Fault = NonNullable<Check['errors']>[number]
const checks = new Map<Tool, Check>()

/** What is wrong with the arguments of a call, by the tool's own schema. */
export function problemOf(tool: Tool, given: Arguments): string | undefined {
  const check = checks.get(tool) ?? ajv.compile(tool.definition.inputSchema)
  checks.set(tool, check)
  if (!check(given)) return wordsOf(check.errors?.[0])
  // Such a part would make another address out of the operation's.
  const bad = [...tool.places].find(
    ([name, place]) => place === 'path' && /^\.{0,2}$/.test(String(given[name])),
  )
  return bad && `"${bad[0]}" does not fit.`
}

/** Says which argument does not fit, without repeating what was sent. */
function wordsOf(fault: Fault | undefined): string {
  const field = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const inside = (name: unknown): string => `${field && `${field}.`}${String(name).slice(0, 100)}`
  switch (fault?.keyword) {
    case 'additionalProperties': {
      const name = inside(fault.params['additionalProperty'])
      return `"${name}" is no field of this operation. Leave it out.`
    }
    case 'required':
      return `"${inside(fault.params['missingProperty'])}" is missing.`
    case 'enum':
      return `"${field}" is one of ${[fault.params['allowedValues']].flat().join(', ')}.`
    default:
      return `"${field}" ${fault?.message ?? 'does not fit'}.`
  }
}
