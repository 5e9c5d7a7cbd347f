/** Encodes mono 16-bit little-endian samples as WAV. */
export function encodeWav(samples: Uint8Array<ArrayBuffer>, hertz: number): Blob {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(hertz, 24)
  header.writeUInt32LE(hertz * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return new Blob([header, samples], { type: 'audio/wav' })
}
