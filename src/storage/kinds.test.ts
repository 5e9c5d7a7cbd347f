import { expect, test } from 'bun:test'

import { assetBytesMax } from '../limits.ts'
import { kindOf } from './kinds.ts'

const join = (...parts: (Uint8Array | string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Uint8Array.from(part),
    ),
  )

const u16 = (value: number): number[] => [value & 255, value >> 8]
const u32 = (value: number): number[] => [...u16(value & 65_535), ...u16(value >>> 16)]
const big32 = (value: number): number[] => u32(value).reverse()

const chunk = (name: string, body: Uint8Array | number[]): Uint8Array => {
  const named = join(name, body)
  return join(big32(body.length), named, big32(Bun.hash.crc32(named)))
}
const pngMark = '\x89PNG\r\n\x1a\n'
const pngHead = (width: number, height: number): Uint8Array =>
  join(pngMark, chunk('IHDR', [...big32(width), ...big32(height), 8, 0, 0, 0, 0]))
const png = (width: number, height: number): Uint8Array => {
  const rows = Bun.deflateSync(new Uint8Array(height * (width + 1)))
  const adler = [...big32(((height * (width + 1)) << 16) | 1)]
  return join(
    pngHead(width, height),
    chunk('IDAT', join([0x78, 1], rows, adler)),
    chunk('IEND', []),
  )
}
const picture = new Bun.Image(png(12, 7))
const jpeg = await picture.jpeg().bytes()
const webp = await new Bun.Image(png(12, 7)).webp().bytes()
const gifOf = (frame: number[]): Uint8Array =>
  join(
    'GIF89a',
    u16(12),
    u16(7),
    [0x80, 0, 0],
    [0, 0, 0, 255, 255, 255],
    [0x21, 0xfe, 2],
    'hi',
    [0],
    [0x2c],
    u16(0),
    u16(0),
    frame,
    [0, 2, 3, 0x84, 0x51, 5, 0, 0x3b],
  )
const gif = gifOf([...u16(12), ...u16(7)])

const wavOf = (format: number, samples: number, size = samples, whole = 36 + samples): Uint8Array =>
  join(
    'RIFF',
    u32(whole),
    'WAVEfmt ',
    u32(16),
    u16(format),
    u16(1),
    u32(8_000),
    u32(16_000),
    u16(2),
    u16(16),
    'data',
    u32(size),
    new Uint8Array(samples),
  )
const wav = wavOf(1, 24_000)

/** A silent MPEG 1 layer III frame of 128 kbit/s at 44.1 kHz: 417 bytes, 1152 samples. */
const frame = join([0xff, 0xfb, 0x90, 0x00], new Uint8Array(413))
const mp3 = join(...Array.from({ length: 100 }, () => frame))
const page = (granule: number, body: Uint8Array, serial = 9): Uint8Array =>
  join('OggS', [0, 0], u32(granule), u32(0), u32(serial), u32(0), u32(0), [1, body.length], body)
const opusHead = join('OpusHead', [1, 1], u16(312), u32(48_000), [0, 0, 0])
const opus = join(page(0, opusHead), page(96_312, new Uint8Array(40)))
const vorbisHead = join('\x01vorbis', u32(0), [1], u32(44_100), new Uint8Array(14))
const vorbis = join(page(0, vorbisHead), page(66_150, new Uint8Array(40)))
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

test('each kind that is kept is told by its bytes, with its size or length', async () => {
  const size = { kind: 'picture', width: 12, height: 7 } as const
  expect(await kindOf(png(12, 7))).toEqual({ ...size, type: 'image/png' })
  expect(await kindOf(jpeg)).toEqual({ ...size, type: 'image/jpeg' })
  expect(await kindOf(webp)).toEqual({ ...size, type: 'image/webp' })
  expect(await kindOf(gif)).toEqual({ ...size, type: 'image/gif' })
  expect(await kindOf(wav)).toEqual({ kind: 'sound', type: 'audio/wav', seconds: 1.5 })
  expect(await kindOf(mp3)).toEqual({ kind: 'sound', type: 'audio/mpeg', seconds: 2.612 })
  expect(await kindOf(opus)).toEqual({ kind: 'sound', type: 'audio/ogg', seconds: 2 })
  expect(await kindOf(vorbis)).toEqual({
    kind: 'sound',
    type: 'audio/ogg',
    seconds: 1.5,
    isClaimed: true,
  })
  for (const json of ['{"level":[1,2,"]]]"]}', '[]', ' 7 ', '"é"', '\ufeff{}']) {
    expect(await kindOf(text(json))).toEqual({ kind: 'json', type: 'application/json' })
  }
})

test('tags around MP3 frames and open sizes of streamed WAV are known', async () => {
  const id3 = join('ID3', [4, 0, 0, 0, 0, 1, 2], new Uint8Array(130))
  for (const sound of [
    join(id3, mp3),
    join(mp3, 'TAG', new Uint8Array(125)),
    join(mp3, [0, 0, 0]),
  ]) {
    expect(await kindOf(sound)).toMatchObject({ type: 'audio/mpeg', seconds: 2.612 })
  }
  const streamed = wavOf(1, 24_000, 0xffffffff, 0xffffffff)
  expect(await kindOf(streamed)).toMatchObject({ type: 'audio/wav', seconds: 1.5 })
})

test('an Opus stream lasts as long as its packets, whatever its clock says', async () => {
  // One page of packets: of 20 ms each, of three frames of 20 ms, of 60 ms, and of 2 x 10 ms.
  const packets = [[0x08], [0x0b, 3], [0x18], [0x61], [0xfd], []]
  const stream = (clock: number, times: number): Uint8Array => {
    const sent = Array.from({ length: times }, () => packets).flat()
    const body = join(...sent)
    const sizes = sent.map((packet) => packet.length)
    const sounds = join(page(clock, body).subarray(0, 26), [sizes.length], sizes, body)
    return join(page(0, opusHead), page(0, join('OpusTags')), sounds)
  }
  const each = 20 + 60 + 60 + 20 + 40
  const real = 10 * each * 48
  const skip = 312
  const lasting = async (clock: number) => Object(await kindOf(stream(clock, 10))).seconds
  expect(await lasting(real + skip)).toBe((10 * each) / 1_000)
  expect(await lasting(real - 480)).toBeCloseTo((real - 480 - skip) / 48_000, 3)
  expect(await lasting(4_912)).toBeCloseTo((real - skip) / 48_000, 3)
})

test('a WAV has one chunk of samples', async () => {
  const twice = join(wav, 'data', u32(48_000), new Uint8Array(48_000))
  const sized = join('RIFF', u32(twice.length - 8), twice.subarray(8))
  expect(await kindOf(sized)).toEqual({ unfit: 'the file is damaged' })
})

test.each([
  ['PNG', png(12, 7)],
  ['JPEG', jpeg],
  ['GIF', gif],
  ['WebP', webp],
  ['WAV', wav],
  ['MP3', mp3],
  ['Ogg', opus],
])('%s with something before or behind it, or cut short, is refused', async (_, whole) => {
  for (const junk of ['<script>alert(1)</script>', 'PK\x03\x04\x14', '%PDF-1.7\n', '\n']) {
    expect(await kindOf(join(whole, junk))).toHaveProperty('unfit')
    expect(await kindOf(join(junk, whole))).toHaveProperty('unfit')
  }
  const cut = whole.subarray(0, whole.length - 2)
  // The last frame of an MP3 is often cut by who recorded it, and players do not mind.
  if (whole !== mp3) expect(await kindOf(cut)).toHaveProperty('unfit')
  expect(await kindOf(whole.subarray(0, 20))).toHaveProperty('unfit')
})

test('a picture that claims a huge canvas is refused from its header', async () => {
  const bomb = (width: number, height: number): Uint8Array =>
    join(pngHead(width, height), chunk('IDAT', [0x78, 1, 3, 0, 0, 0, 0, 1]), chunk('IEND', []))
  for (const [width, height] of [
    [60_000, 60_000],
    [9_000, 10],
    [10, 9_000],
    [8_192, 2_049],
  ] as const) {
    const told = await kindOf(bomb(width, height))
    expect(told).toEqual({
      unfit: 'a picture has at most 8192 pixels on a side and 16777216 in all',
    })
  }
  expect(await kindOf(bomb(8_192, 2_048))).toMatchObject({ width: 8_192, height: 2_048 })
})

test('damage inside is refused', async () => {
  const flipped = png(12, 7)
  flipped[45] = (flipped[45] ?? 0) ^ 1
  expect(await kindOf(flipped)).toEqual({ unfit: 'the file is damaged' })
  expect(await kindOf(gifOf([...u16(65_535), ...u16(65_535)]))).toEqual({
    unfit: 'the file is damaged',
  })
  expect(await kindOf(wavOf(2, 24_000))).toHaveProperty('unfit')
  expect(await kindOf(wavOf(1, 0))).toEqual({ unfit: 'the sound has no length' })
  expect(await kindOf(join(page(0, opusHead), page(96_312, new Uint8Array(40), 8)))).toHaveProperty(
    'unfit',
  )
  expect(await kindOf(join(frame, '<html>'))).toHaveProperty('unfit')
})

test('what is none of the kinds is refused', async () => {
  const others = [
    '',
    'hello',
    '<!doctype html><p>hi',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '{"a":',
    '{}x',
    '%PDF-1.7',
    'PK\x03\x04',
    'MZ\x90',
    'BM',
    'RIFF\x04\0\0\0AVI ',
    '\0\0\0\x18ftypmp42',
    'undefined',
  ]
  for (const other of others) expect(await kindOf(join(other))).toHaveProperty('unfit')
  expect(await kindOf(join('"\xff\xfe"'))).toHaveProperty('unfit')
  expect(await kindOf(text('[1]\0'))).toHaveProperty('unfit')
  expect(await kindOf(new Uint8Array(assetBytesMax + 1))).toHaveProperty('unfit')
})

test('JSON nested too deep is refused before it is parsed', async () => {
  const nested = (depth: number): Uint8Array => text('['.repeat(depth) + ']'.repeat(depth))
  expect(await kindOf(nested(64))).toMatchObject({ kind: 'json' })
  expect(await kindOf(nested(65))).toEqual({ unfit: 'JSON is nested at most 64 deep' })
  expect(await kindOf(text('[{"a":'.repeat(1_000_000).slice(0, assetBytesMax)))).toHaveProperty(
    'unfit',
  )
  expect(await kindOf(text(JSON.stringify('['.repeat(99))))).toMatchObject({ kind: 'json' })
})
