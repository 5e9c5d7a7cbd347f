/** Half a second of silence: 8 kHz, 8 bits, one channel. */
export function makeWav(): Uint8Array {
  const bytes = Buffer.alloc(44 + 4_000, 0x80)
  bytes.write('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 0, 'latin1')
  bytes.writeUInt32LE(36 + 4_000, 4)
  bytes.writeUInt32LE(8_000, 24)
  bytes.writeUInt32LE(8_000, 28)
  bytes.write('\x01\0\x08\0data', 32, 'latin1')
  bytes.writeUInt32LE(4_000, 40)
  return bytes
}
