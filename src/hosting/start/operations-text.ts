import type { ApiDescription, DescribedOperation, Schema } from '../../http/api-description.ts'

/** Every operation of the description as markdown: what it takes, answers and refuses. */
export const operationsText = ({ operations, records }: ApiDescription): string =>
  [
    '## Operations\n',
    ...operations.map(textOf),
    '## Records\n',
    ...Object.entries(records).map(([name, schema]) => `### ${name}\n\n${fieldsOf(schema)}\n`),
  ].join('\n')

function textOf(operation: DescribedOperation): string {
  const { operationId, method, path, summary, description, security } = operation
  const answers = Object.entries(operation.responses).map(
    ([status, { description: says, content }]) => {
      const [schema] = Object.values(content)
      const shape = Number(status) < 300 && schema ? ` ${shapeOf(schema.schema)}` : ''
      return `- ${status}:${shape || ` ${says}`}`
    },
  )
  const body = Object.entries(operation.requestBody?.content ?? {}).map(
    ([media, { schema }]) => `Body (${media}):\n\n${fieldsOf(schema)}\n`,
  )
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, schema }) => `- ${name} (${place}): ${shapeOf(schema)}`,
  )
  return [
    `### ${operationId}: ${method} ${path}\n`,
    `${summary}${description ? ` ${description}` : ''}${security.length > 0 ? ' Needs a key.' : ''}\n`,
    ...(parameters.length > 0 ? [`${parameters.join('\n')}\n`] : []),
    ...body,
    `Answers:\n\n${answers.join('\n')}\n`,
  ].join('\n')
}

/** The fields of an object, a line each; what is no object, as it is. */
function fieldsOf(schema: Schema): string {
  const fields = Object.entries(Object(schema['properties']))
  const required = [schema['required']].flat()
  if (fields.length === 0) return `- ${shapeOf(schema)}`
  return fields
    .map(([name, field]) => `- ${name}${required.includes(name) ? '' : '?'}: ${shapeOf(field)}`)
    .join('\n')
}

/** A schema in a few words: its type, its bounds and what it is for. */
function shapeOf(given: unknown): string {
  const { description, ...schema } = Object(given)
  const said = typeof description === 'string' ? ` (${description})` : ''
  return `${typeOf(schema)}${said}`
}

function typeOf(schema: Record<string, unknown>): string {
  const {
    $ref,
    enum: words,
    items,
    properties,
    anyOf,
    pattern,
    minimum,
    maximum,
    maxLength,
  } = schema
  if (typeof $ref === 'string') return $ref.replace(/.*\//, '')
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' | ')
  if (Array.isArray(anyOf)) return anyOf.map(shapeOf).join(' | ')
  if (items) return `${shapeOf(items)}[]`
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => `${name}: ${shapeOf(field)}`)
    return `{ ${fields.join(', ')} }`
  }
  const bounds = Object.entries({ pattern, minimum, maximum, maxLength }).flatMap(
    ([name, bound]) => (bound === undefined ? [] : [`${name} ${bound}`]),
  )
  return [[schema['type'] ?? 'any'].flat().join(' | '), ...bounds].join(', ')
}
