import { ApiError, type FieldNames } from '../kernel/errors.ts'
import { publicUrl } from '../kernel/fetch.ts'
import { fallbackModelsMax, imageSideMax } from '../kernel/limits.ts'
import { isRecord, type Json } from '../kernel/schema.ts'

/** Creates the error of an invalid field. `param` names it in the envelope. */
export const invalidField = (param: string, problem: string): ApiError<'bad_request'> =>
  new ApiError('bad_request', { problem, param })

/** Returns a handler that renames the fields of an error: a client knows the names that it sent. */
export const renameFields =
  (names: FieldNames) =>
  (error: unknown): never => {
    // The first names are those nearest to the error.
    if (error instanceof ApiError) error.fieldNames = { ...names, ...error.fieldNames }
    throw error
  }

/** The name of a search that a part of the field `param` asks for. */
export const searchIn = (param: string) => ({ param, text: `the search in ${param}` })

/** Reads the ids of `model` and `models`. Throws `bad_request`. */
export function readModels(model: unknown, fallbacks: unknown): string[] {
  const others = fallbacks ?? []
  if (!Array.isArray(others) || others.length > fallbackModelsMax) {
    throw invalidField('models', `models must be a list of at most ${fallbackModelsMax} ids.`)
  }
  const ids: unknown[] = [...new Set([...(model === undefined ? [] : [model]), ...others])]
  if (ids.length === 0) throw invalidField('model', 'Send "model": an id of GET /v1/models.')
  return ids.map((id) => {
    if (typeof id === 'string' && id !== '') return id
    throw invalidField('model', 'A model must be an id of GET /v1/models.')
  })
}

/** Reads a required string of 1 to `max` characters. Throws `bad_request`. */
export function readString(body: Json, name: string, max: number): string {
  const text = findString(body, name, max)
  if (text) return text
  throw invalidField(name, `Send "${name}": a string of 1 to ${max} characters.`)
}

/** Reads an optional string of at most `max` characters. Throws `bad_request`. */
export function findString(body: Json, name: string, max: number): string | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.length <= max) return value
  throw invalidField(name, `${name} must be a string of at most ${max} characters.`)
}

/** Reads an optional string of a closed list. Throws `bad_request`. */
export function findEnum<const T extends string>(
  body: Json,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  const found = values.find((known) => known === value)
  if (found !== undefined) return found
  throw invalidField(name, `${name} must be ${values.join(' or ')}.`)
}

/**
 * Reads an optional whole number from 1 to `max`; `within` is the path of `body`. Throws
 * `bad_request`.
 */
export function findCount(body: Json, name: string, max: number, within = ''): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) {
    return value
  }
  const path = `${within}${name}`
  throw invalidField(path, `${path} must be a whole number from 1 to ${max}.`)
}

/** Reads an optional boolean; false by default. Throws `bad_request`. */
export function readFlag(body: Json, name: string): boolean {
  const value = body[name] ?? false
  if (typeof value !== 'boolean') throw invalidField(name, `${name} must be true or false.`)
  return value
}

/** Throws `bad_request` for a field that is set and not among `known`. */
export function rejectOthers(fields: Json, known: ReadonlySet<string>, within = ''): void {
  for (const [name, value] of Object.entries(fields)) {
    const isEmpty = Array.isArray(value) && value.length === 0
    if (known.has(name) || value == null || value === false || isEmpty) continue
    const path = `${within}${name}`.slice(0, 100)
    throw invalidField(path, `${path} is not supported. Remove it.`)
  }
}

/** Reads an optional size, WIDTHxHEIGHT in pixels. Throws `bad_request`. */
export function findSize(size: unknown): string | undefined {
  if (size === undefined || size === null) return undefined
  const sides = typeof size === 'string' ? /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(size) : null
  if (sides && Math.max(Number(sides[1]), Number(sides[2])) <= imageSideMax) return sides[0]
  throw invalidField('size', `size must be WIDTHxHEIGHT, each from 1 to ${imageSideMax}.`)
}

/** Creates the error of a URL that can lead into a private network. */
export const privateUrlError = (param: string, name: string): ApiError<'bad_request'> =>
  invalidField(param, `${name} must be a data: URL, or a public http:// or https:// URL.`)

/** Fields that are text, even where the text is a URL. */
const textFields = [
  'prompt',
  'negative_prompt',
  'input',
  'instructions',
  'user',
  'style',
  'metadata',
]

/**
 * Checks the URLs of a body at any depth. We fetch none, but an upstream in our network may, so no
 * URL may lead into a private network. Throws `bad_request`.
 */
export function checkUrls(body: Json): void {
  for (const [name, value] of Object.entries(body)) {
    if (!textFields.includes(name)) checkUrl(name, value)
  }
}

function checkUrl(name: string, value: unknown): void {
  if (typeof value === 'string') {
    if (!URL.canParse(value) || /^data:/i.test(value) || publicUrl(value)) return
    throw privateUrlError(name, name)
  }
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  for (const one of inner) checkUrl(name, one)
}
