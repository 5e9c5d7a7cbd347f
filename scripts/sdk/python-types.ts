/** Writes JSON schemas as types of Python. */
import { isRecord, itemsOf, type Json, recordOf } from '../../src/kernel/schema.ts'
import { pascalCase } from './document.ts'
import { docstring } from './python-text.ts'

const simpleTypes: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  array: 'list[Any]',
  object: 'dict[str, Any]',
}

/** Keywords of Python, which cannot name a field. The client removes the underscore. */
const reserved = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except ' +
    'finally for from global if import in is lambda nonlocal not or pass raise return try while ' +
    'with yield'
  ).split(' '),
)
export const fieldName = (name: string): string => (reserved.has(name) ? `${name}_` : name)

/** The types of an API: a TypedDict for each object, by the place where it is first. */
export class PythonTypes {
  readonly #definitions = new Map<string, string>()
  /** Names of objects by their schema. Equal objects of several operations have one type. */
  readonly #names = new Map<string, string>()

  constructor(components: Json) {
    for (const [name, schema] of Object.entries(components)) {
      const type = this.typeOf(recordOf(schema), name, true)
      // An object is its own definition.
      if (type !== name) this.#definitions.set(name, `${name} = ${type}\n`)
    }
  }

  toString(): string {
    return [...this.#definitions.values()].join('\n\n')
  }

  /**
   * Returns the type of a schema, and defines what it needs. `name` is that of a new object, also
   * with `isNamed` where another operation has an equal one.
   */
  typeOf(schema: Json, name: string, isNamed = false): string {
    const { $ref: ref, enum: values, type } = schema
    if (typeof ref === 'string') return ref.split('/').pop() ?? ''
    if ('const' in schema) return literal([schema['const']])
    if (Array.isArray(values)) return literal(values)
    const choices = itemsOf(schema['anyOf'] ?? schema['oneOf']).map(recordOf)
    if (choices.length > 0) return this.#union(choices, name, isNamed)
    const types = Array.isArray(type) ? type.map(String) : [String(type ?? '')]
    return union(
      types.map((one) => {
        if (one === 'string' && schema['format'] === 'binary') return 'Upload'
        if (one === 'array') {
          return `list[${this.typeOf(recordOf(schema['items']), singular(name))}]`
        }
        if (one === 'object') return this.#object(schema, name, isNamed)
        return simpleTypes[one] ?? 'Any'
      }),
    )
  }

  /** Objects of one place are one type with the fields of all, which a field tells apart. */
  #union(choices: Json[], name: string, isNamed: boolean): string {
    if (choices.length > 1 && choices.every((choice) => isObject(choice) && !kindOf(choice))) {
      const required = choices.map((choice) => itemsOf(choice['required']))
      const fields: Record<string, Json[]> = {}
      for (const choice of choices) {
        for (const [field, schema] of Object.entries(recordOf(choice['properties']))) {
          fields[field] = [...(fields[field] ?? []), recordOf(schema)]
        }
      }
      const properties = Object.fromEntries(
        Object.entries(fields).map(([field, schemas]) => [field, either(schemas)]),
      )
      const inAll = Object.keys(properties).filter((field) =>
        required.every((names) => names.includes(field)),
      )
      return this.typeOf({ type: 'object', properties, required: inAll }, name, isNamed)
    }
    return union(
      choices.map((choice) => this.typeOf(choice, `${name}${pascalCase(kindOf(choice) ?? '')}`)),
    )
  }

  #object(schema: Json, name: string, isNamed: boolean): string {
    const fields = Object.entries(recordOf(schema['properties']))
    if (fields.length === 0) {
      const values = [
        schema['additionalProperties'],
        ...Object.values(recordOf(schema['patternProperties'])),
      ]
      const value = values.filter(isRecord).at(0)
      return value ? `dict[str, ${this.typeOf(value, `${name}Value`)}]` : 'dict[str, Any]'
    }
    const text = JSON.stringify(schema)
    const known = this.#names.get(text)
    if (known !== undefined && !isNamed) return known
    if (!isNamed && this.#definitions.has(name)) return this.#object(schema, `${name}2`, false)
    if (!isNamed) this.#names.set(text, name)
    this.#definitions.set(name, '')
    this.#definitions.set(name, this.#classOf(name, fields, itemsOf(schema['required'])))
    return name
  }

  #classOf(name: string, fields: [string, unknown][], required: readonly unknown[]): string {
    const isTotal = required.length > 0
    const lines = fields.flatMap(([field, value]) => {
      const schema = recordOf(value)
      const type = this.typeOf(schema, `${name}${pascalCase(field)}`)
      const own = isTotal && !required.includes(field) ? `NotRequired[${type}]` : type
      const { description } = schema
      return [
        `    ${fieldName(field)}: ${own}`,
        ...(typeof description === 'string' ? docstring(description, 4) : []),
      ]
    })
    return `class ${name}(TypedDict${isTotal ? '' : ', total=False'}):\n${lines.join('\n')}\n`
  }
}

const isObject = (schema: Json): boolean =>
  schema['type'] === 'object' && Object.keys(recordOf(schema['properties'])).length > 0

/** Returns the value that tells a part of a union apart: `image` of `{ type: 'image' }`. */
function kindOf({ properties }: Json): string | undefined {
  const { type, role } = recordOf(properties)
  const { const: value, enum: values } = recordOf(type ?? role)
  const kind = value ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined)
  return typeof kind === 'string' ? kind.replaceAll(/\W/g, '_') : undefined
}

function either(schemas: Json[]): Json {
  const unique = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return unique.length === 1 ? (unique[0] ?? {}) : { anyOf: unique }
}

function literal(values: unknown[]): string {
  const texts = values.filter((value) => value !== null).map(constant)
  const type = texts.length > 0 ? `Literal[${texts.join(', ')}]` : 'None'
  return texts.length < values.length && texts.length > 0 ? `Optional[${type}]` : type
}

export const constant = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)

function union(types: string[]): string {
  const unique = [...new Set(types)]
  if (unique.includes('Any')) return 'Any'
  const others = unique.filter((type) => type !== 'None')
  const type = others.length > 1 ? `Union[${others.join(', ')}]` : (others[0] ?? 'None')
  return others.length > 0 && others.length < unique.length ? `Optional[${type}]` : type
}

const singular = (name: string): string =>
  name.endsWith('ies')
    ? `${name.slice(0, -3)}y`
    : /[^s]s$/.test(name)
      ? name.slice(0, -1)
      : `${name}Item`
