const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 && 0xedb8_8320)
  return crc
})

/** Returns the checksum of zip files (CRC-32 of ISO 3309). Browsers have none of their own. */
export function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  return ~crc >>> 0
}
