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
