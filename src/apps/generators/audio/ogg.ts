import { createEncoder } from 'wasm-media-encoders'

import { lazy } from '../../../kernel/lazy.ts'
import { readPackageFile } from '../../../kernel/public-files.ts'

/** Audio samples from -1 to 1: one or two channels of equal length. */
export interface Samples {
  rate: number
  channels: [Float32Array] | [Float32Array, Float32Array]
}

const vbrQuality = 4
/** The encoder's stream number, which is random by default. */
const oggSerialNo = 1
const pieceLength = 65_536

/** Compiled once: the compilation takes four times as long as the encoding of a short sound. */
const program = lazy(() =>
  readPackageFile('wasm-media-encoders/wasm/ogg.wasm').then(WebAssembly.compile),
)

/** Encodes Ogg Vorbis. Equal samples give equal bytes. */
export async function oggOf({ rate, channels }: Samples): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await createEncoder('audio/ogg', await program())
  const count = channels.length
  encoder.configure({ channels: count, sampleRate: rate, vbrQuality, oggSerialNo })
  const pieces: Uint8Array[] = []
  for (let at = 0; at < channels[0].length; at += pieceLength) {
    pieces.push(encoder.encode(channels.map((all) => all.subarray(at, at + pieceLength))).slice())
  }
  pieces.push(encoder.finalize().slice())
  return new Uint8Array(Buffer.concat(pieces))
}

export const secondsOf = ({ rate, channels }: Samples): number => channels[0].length / rate
