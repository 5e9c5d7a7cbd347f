import { jsonDepthMax, jsonValuesMax } from '../limits.ts'

/** The value of a JSON text, or the reason why it is invalid. */
export type JsonResult = { value: unknown } | { problem: string }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON text (RFC 8259) in UTF-8: at most 64 levels and 100,000 values. */
export function parseJson(bytes: Uint8Array): JsonResult {
  const problem = findLimitProblem(bytes)
  if (problem !== undefined) return { problem }
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { problem: 'The body is not JSON: it is not UTF-8. Encode it in UTF-8.' }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return {
      problem: 'The body is not JSON: it does not parse. Check its quotes, commas and brackets.',
    }
  }
}

/**
 * Counts brackets and commas outside strings, before parsing. A few megabytes of short values would
 * block the parser and the validation for seconds.
 */
function findLimitProblem(json: Uint8Array): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = stringEnd(json, at + 1)
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

/**
 * Returns the index of the quote that ends a string: the first one after an even number of
 * backslashes. The runtime finds quotes faster than a loop: texts are most of a body.
 */
function stringEnd(json: Uint8Array, from: number): number {
  for (let at = json.indexOf(quote, from); at >= 0; at = json.indexOf(quote, at + 1)) {
    let start = at
    while (start > from && json[start - 1] === backslash) start -= 1
    if ((at - start) % 2 === 0) return at
  }
  return json.length
}
