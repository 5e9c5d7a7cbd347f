/** MPEG-1 Layer III (ISO/IEC 11172-3), mono, 48 kHz, 32 kbit/s: 96 bytes and 24 ms a frame. */
const header = [0xff, 0xfb, 0x14, 0xc0]
const bodyBytes = 92
/** Width of each of the 576 lines in a frame's spectrum. */
const lineHertz = 24_000 / 576
const gain = 203

const bits = (value: number, width: number): string => value.toString(2).padStart(width, '0')

/**
 * Encodes a frame with one spectral line near `hertz`; 0 is silence. Both granules use Huffman
 * table 1, in pairs: 1 for two zeros, then the line and its sign.
 */
export function encodeToneFrame(hertz: number): Uint8Array {
  const line = Math.round(hertz / lineHertz)
  const before = line >> 1
  const half = line === 0 ? '' : '1'.repeat(before) + (line % 2 === 0 ? '010' : '0010')
  const pairs = line === 0 ? 0 : before + 1
  const side = [
    bits(half.length, 12),
    bits(pairs, 9),
    bits(gain, 8),
    bits(0, 4 + 1),
    bits(1, 5),
    bits(1, 5),
    bits(1, 5),
    bits(0, 4 + 3 + 3),
  ].join('')
  const body = (bits(0, 18) + side + side + half + half).padEnd(bodyBytes * 8, '0')
  const bytes = Array.from({ length: bodyBytes }, (_, at) =>
    Number.parseInt(body.slice(at * 8, at * 8 + 8), 2),
  )
  return Uint8Array.from([...header, ...bytes])
}
