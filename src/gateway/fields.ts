import { publicUrl } from '../core/fetch.ts'
import { isRecord } from '../core/schema.ts'
import { ApiError } from '../errors.ts'
import { fallbackModelsMax, imageSideMax } from '../limits.ts'

type Body = Record<string, unknown>

/** The refusal of a field that does not fit, named in the envelope's `param`. */
export const invalidField = (param: string, problem: string): ApiError<'bad_request'> =>
  new ApiError('bad_request', { problem, param })

/** The ids of `model` and `models`. Refuses bad_request. */
export function readModels(model: unknown, fallbacks: unknown): string[] {
  const others = fallbacks ?? []
  if (!Array.isArray(others) || others.length > fallbackModelsMax) {
    throw invalidField('models', `models is a list of at most ${fallbackModelsMax} ids.`)
  }
  const ids: unknown[] = [...new Set([...(model === undefined ? [] : [model]), ...others])]
  if (ids.length === 0) throw invalidField('model', 'Send "model": an id of GET /v1/models.')
  return ids.map((id) => {
    if (typeof id === 'string' && id !== '') return id
    throw invalidField('model', 'A model is named by its id, a text.')
  })
}

/** A text of 1 to `max` characters. Refuses bad_request. */
export function readText(body: Body, name: string, max: number): string {
  const text = findText(body, name, max)
  if (text) return text
  throw invalidField(name, `Send "${name}": a text of 1 to ${max} characters.`)
}

/** A text of at most `max` characters, where there is one. Refuses bad_request. */
export function findText(body: Body, name: string, max: number): string | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.length <= max) return value
  throw invalidField(name, `${name} is a text of at most ${max} characters.`)
}

/** One of some words, where there is one. Refuses bad_request. */
export function findWord<const T extends string>(
  body: Body,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  const word = words.find((known) => known === value)
  if (word !== undefined) return word
  throw invalidField(name, `${name} is ${words.join(' or ')}.`)
}

/** A whole number from 1 to `max`, where there is one. Refuses bad_request. */
export function readCount(body: Body, name: string, max: number): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) {
    return value
  }
  throw invalidField(name, `${name} is a whole number from 1 to ${max}.`)
}

/** WIDTHxHEIGHT, where there is one. Refuses bad_request. */
export function findSize(size: unknown): string | undefined {
  if (size === undefined || size === null) return undefined
  const sides = typeof size === 'string' ? /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(size) : null
  if (sides && Math.max(Number(sides[1]), Number(sides[2])) <= imageSideMax) return sides[0]
  throw invalidField('size', `size is WIDTHxHEIGHT, each from 1 to ${imageSideMax}.`)
}

/** The refusal of an address that may point inside. */
export const notPublic = (param: string, name: string): ApiError<'bad_request'> =>
  invalidField(param, `${name} is a data: URL, or a public http:// or https:// address.`)

/** What is read as words, whatever it looks like. */
const words = ['prompt', 'negative_prompt', 'input', 'instructions', 'user', 'style', 'metadata']

/**
 * We fetch no address of a request; its upstream may, and that can stand on this machine. So none
 * goes on that points inside, at any depth, however it is spelled. Refuses bad_request.
 */
export function checkAddresses(body: Body): void {
  for (const [name, value] of Object.entries(body)) {
    if (!words.includes(name)) checkAddress(name, value)
  }
}

function checkAddress(name: string, value: unknown): void {
  if (typeof value === 'string') {
    if (!URL.canParse(value) || /^data:/i.test(value) || publicUrl(value)) return
    throw notPublic(name, name)
  }
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  for (const one of inner) checkAddress(name, one)
}
