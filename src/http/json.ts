import { jsonDepthMax, jsonValuesMax } from '../limits.ts'

/** What a JSON text says, or what is wrong with it. */
export type Parsed = { value: unknown } | { problem: string }

/** Parses a JSON text (RFC 8259) in UTF-8, nested at most 64 deep, of at most 100,000 values. */
export function parseJson(bytes: Uint8Array): Parsed {
  const problem = faultOf(bytes)
  if (problem !== undefined) return { problem }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { problem: 'The body is not JSON: it is not UTF-8.' }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'The body is not JSON: it does not parse.' }
  }
}

/**
 * Counts brackets and commas outside of texts before anything is parsed: a few megabytes of short
 * values would keep the parser, and whoever then looks at each of them, busy for seconds.
 */
function faultOf(json: Uint8Array): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = textEnd(json, at + 1)
    else if (byte === 0x5b || byte === 0x7b) depth += 1
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
    else if (byte === 0x2c) values += 1
    if (depth > jsonDepthMax) return `The body is nested more than ${jsonDepthMax} deep.`
    if (values > jsonValuesMax) return `The body has more than ${jsonValuesMax} values.`
  }
  return undefined
}

const quote = 0x22
const backslash = 0x5c

/** Where the quote stands that ends a text. */
function textEnd(json: Uint8Array, from: number): number {
  let at = from
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}
