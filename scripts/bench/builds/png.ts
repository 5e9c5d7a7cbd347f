import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}

/** Paeth's predictor of PNG section 9.4: the neighbor nearest to left + up - corner. */
function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/**
 * A PNG file (8 bits a channel) of `width` columns; `bytes` holds rows of `channels` (3 RGB, 4
 * RGBA) per pixel.
 */
export function encodePng(bytes: Uint8Array, width: number, channels: 3 | 4): Buffer {
  const stride = width * channels
  const height = bytes.length / stride
  const lines = Buffer.alloc((stride + 1) * height)
  for (let y = 0; y < height; y++) {
    const line = y * (stride + 1)
    lines[line] = 4
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x >= channels ? (bytes[at - channels] ?? 0) : 0
      const up = y > 0 ? (bytes[at - stride] ?? 0) : 0
      const corner = x >= channels && y > 0 ? (bytes[at - stride - channels] ?? 0) : 0
      lines[line + 1 + x] = ((bytes[at] ?? 0) - paeth(left, up, corner)) & 255
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, channels === 4 ? 6 : 2, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', new Uint8Array()),
  ])
}
