import { html, type Part } from '../../kernel/html.ts'
import { type Schema, typeOf } from '../guide/read-description.ts'
import { resolveSchema } from './example-value.ts'

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
export function fieldList(schema: unknown, records: Records, depth = depthMax): Part {
  const objects = depth > 0 ? objectsOf(schema, records, depth) : []
  return objects.map(
    ({ properties, required }, at) =>
      html`${at > 0 && html`<p class="small">or</p>`}
        <ul class="fields">
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
      <code>${name}</code> <span class="small">${typeName(field)}</span>
      ${isRequired && html`<strong class="small">required</strong>`}
    </p>
    ${description !== undefined && html`<p>${description}</p>`}
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
export const parameterList = (
  parameters: { name: string; required: boolean; description?: string; schema: Schema }[],
): Part =>
  html`<ul class="fields">
    ${parameters.map(({ name, required, description, schema }) =>
      fieldItem(name, { ...schema, ...(description && { description }) }, required, {}, 1),
    )}
  </ul>`
