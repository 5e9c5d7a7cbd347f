import { expect, test } from 'bun:test'

import { jsonDepthMax, jsonValuesMax } from '../limits.ts'
import { Refusal } from '../refusals.ts'
import { parseJson } from './body.ts'

const parse = (text: string): unknown => parseJson(new TextEncoder().encode(text))

/** What is wrong with a body. */
function problemOf(text: string): string {
  try {
    parse(text)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal)
    return JSON.stringify(error instanceof Refusal && error.facts)
  }
}

test('brackets, commas and quotes inside of texts are letters', () => {
  const texts = ['[{,'.repeat(jsonValuesMax), '"', '\\', '\\"', 'a\\\\"[', '', '🚤"']
  for (const text of texts) expect(parse(JSON.stringify({ text }))).toEqual({ text })
  expect(parse(JSON.stringify(texts))).toEqual(texts)
})

test('nesting and the number of values have an end', () => {
  const nested = (depth: number): string =>
    '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
  expect(problemOf(nested(jsonDepthMax))).toBe('')
  expect(problemOf(nested(jsonDepthMax + 2))).toContain('nested')
  const wide = (values: number): string => `[${Array<string>(values).fill('[]').join(',')}]`
  expect(problemOf(wide(jsonValuesMax))).toBe('')
  expect(problemOf(wide(jsonValuesMax + 1))).toContain('values')
})

test('what is cut off in a text or after a backslash does not parse', () => {
  for (const text of ['"', '"\\', '{"a":"\\"', '{"a":"b\\']) {
    expect(problemOf(text)).toContain('it does not parse')
  }
})
