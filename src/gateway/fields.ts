import { publicUrl } from '../core/fetch.ts'
import { isRecord } from '../core/shape.ts'
import { misfit } from './chat/misfit.ts'

type Body = Record<string, unknown>

/** A text of 1 to `max` characters. Refuses bad_request. */
export function readText(body: Body, name: string, max: number): string {
  const text = findText(body, name, max)
  if (text) return text
  throw misfit(name, `Send "${name}": a text of 1 to ${max} characters.`)
}

/** A text of at most `max` characters, where there is one. Refuses bad_request. */
export function findText(body: Body, name: string, max: number): string | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.length <= max) return value
  throw misfit(name, `${name} is a text of at most ${max} characters.`)
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
  throw misfit(name, `${name} is ${words.join(' or ')}.`)
}

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
    throw misfit(name, `${name} is a data: URL, or a public http:// or https:// address.`)
  }
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  for (const one of inner) checkAddress(name, one)
}
