import { expect, test } from 'bun:test'

import { assetBytesMax } from '../kernel/limits.ts'
import {
  chromeMp4,
  chromeWebm,
  makeRecording,
  recordingFormats,
} from '../testing/fixtures/recordings.ts'
import { detectFileKind, detectPrivateFileKind } from './file-kind.ts'

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
const image = new Bun.Image(png(12, 7))
const jpeg = await image.jpeg().bytes()
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

test('detects each accepted kind by its bytes, with its size or duration', async () => {
  const size = { kind: 'picture', width: 12, height: 7 } as const
  expect(await detectFileKind(png(12, 7))).toEqual({ ...size, type: 'image/png' })
  expect(await detectFileKind(jpeg)).toEqual({ ...size, type: 'image/jpeg' })
  expect(await detectFileKind(webp)).toEqual({ ...size, type: 'image/webp' })
  expect(await detectFileKind(gif)).toEqual({ ...size, type: 'image/gif' })
  expect(await detectFileKind(wav)).toEqual({ kind: 'sound', type: 'audio/wav', seconds: 1.5 })
  expect(await detectFileKind(mp3)).toEqual({ kind: 'sound', type: 'audio/mpeg', seconds: 2.612 })
  expect(await detectFileKind(opus)).toEqual({ kind: 'sound', type: 'audio/ogg', seconds: 2 })
  expect(await detectFileKind(vorbis)).toEqual({
    kind: 'sound',
    type: 'audio/ogg',
    seconds: 1.5,
    isClaimed: true,
  })
  for (const json of ['{"level":[1,2,"]]]"]}', '[]', ' 7 ', '"é"', '\ufeff{}']) {
    expect(await detectFileKind(text(json))).toEqual({ kind: 'json', type: 'application/json' })
  }
})

test('accepts tags around MP3 frames and open sizes of streamed WAV', async () => {
  const id3 = join('ID3', [4, 0, 0, 0, 0, 1, 2], new Uint8Array(130))
  for (const sound of [
    join(id3, mp3),
    join(mp3, 'TAG', new Uint8Array(125)),
    join(mp3, [0, 0, 0]),
  ]) {
    expect(await detectFileKind(sound)).toMatchObject({ type: 'audio/mpeg', seconds: 2.612 })
  }
  const streamed = wavOf(1, 24_000, 0xffffffff, 0xffffffff)
  expect(await detectFileKind(streamed)).toMatchObject({ type: 'audio/wav', seconds: 1.5 })
})

test('takes the duration of an Opus stream from its packets, not its clock', async () => {
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
  const lasting = async (clock: number) => Object(await detectFileKind(stream(clock, 10))).seconds
  expect(await lasting(real + skip)).toBe((10 * each) / 1_000)
  expect(await lasting(real - 480)).toBeCloseTo((real - 480 - skip) / 48_000, 3)
  expect(await lasting(4_912)).toBeCloseTo((real - skip) / 48_000, 3)
})

test('accepts only one chunk of samples in a WAV', async () => {
  const twice = join(wav, 'data', u32(48_000), new Uint8Array(48_000))
  const sized = join('RIFF', u32(twice.length - 8), twice.subarray(8))
  expect(await detectFileKind(sized)).toEqual({ reason: 'the file is damaged' })
})

test.each([
  ['PNG', png(12, 7)],
  ['JPEG', jpeg],
  ['GIF', gif],
  ['WebP', webp],
  ['WAV', wav],
  ['MP3', mp3],
  ['Ogg', opus],
])('%s with bytes before or after it, or truncated, is rejected', async (_, whole) => {
  for (const junk of ['<script>alert(1)</script>', 'PK\x03\x04\x14', '%PDF-1.7\n', '\n']) {
    expect(await detectFileKind(join(whole, junk))).toHaveProperty('reason')
    expect(await detectFileKind(join(junk, whole))).toHaveProperty('reason')
  }
  const cut = whole.subarray(0, whole.length - 2)
  // The last frame of an MP3 is often cut by who recorded it, and players do not mind.
  if (whole !== mp3) expect(await detectFileKind(cut)).toHaveProperty('reason')
  expect(await detectFileKind(whole.subarray(0, 20))).toHaveProperty('reason')
})

const video = await makeRecording('mp4', 1, { hasVideo: true })
const samsung = join(
  [0, 0, 0x30, 10],
  u32(16),
  'MotionPhoto_Data',
  video,
  'SEFH',
  u32(107),
  u32(1),
  [0, 0, 0x30, 10],
  u32(video.length + 24),
  u32(video.length + 24),
  u32(24),
  'SEFT',
)

test.each([
  ['the gain map of Ultra HDR', join(jpeg, jpeg)],
  ['images of CIPA DC-007 between zero bytes', join(jpeg, [0, 0, 0], jpeg, [0, 0], jpeg, [0])],
  ['a motion photo', join(jpeg, video)],
  ['a motion photo in Ultra HDR', join(jpeg, jpeg, video)],
  ['a motion photo of Samsung', join(jpeg, samsung)],
])('accepts a JPEG with %s behind it', async (_, photo) => {
  const size = { kind: 'picture', type: 'image/jpeg', width: 12, height: 7 } as const
  expect(await detectFileKind(photo)).toEqual(size)
  expect(await detectPrivateFileKind(photo)).toEqual(size)
})

test('rejects a JPEG with other data, also behind what cameras write', async () => {
  const trailing = { reason: 'there is data after the end of the image' }
  for (const junk of ['<script>', 'PK\x03\x04\x14', '\n', 'SEFT', '\xff\xd8\xff\xe0']) {
    expect(await detectFileKind(join(jpeg, jpeg, junk))).toEqual(trailing)
    expect(await detectFileKind(join(jpeg, [0, 0], junk))).toEqual(trailing)
  }
  const images = join(...Array.from({ length: 100 }, () => jpeg))
  expect(await detectFileKind(images)).toEqual(trailing)
})

test('accepts any data behind a JPEG that only its account gets back', async () => {
  const photo = join(jpeg, 'v2_f35      LIVE_3511')
  expect(await detectFileKind(photo)).toHaveProperty('reason')
  expect(await detectPrivateFileKind(photo)).toMatchObject({ type: 'image/jpeg', width: 12 })
  expect(await detectPrivateFileKind(jpeg.subarray(0, -2))).toHaveProperty('reason')
  expect(await detectPrivateFileKind(join(png(12, 7), 'x'))).toHaveProperty('reason')
})

test.each(recordingFormats)('accepts %s that has only audio and ends there', async (format) => {
  const type = format.endsWith('mp4') ? 'audio/mp4' : 'audio/webm'
  const sound = await makeRecording(format, 2)
  const expected = { kind: 'sound', type, seconds: 2, isClaimed: true } as const
  expect(await detectFileKind(sound)).toEqual(expected)
  for (const junk of ['<script>alert(1)</script>', 'PK\x03\x04\x14', '%PDF-1.7\n', '\n']) {
    expect(await detectFileKind(join(sound, junk))).toHaveProperty('reason')
    expect(await detectFileKind(join(junk, sound))).toHaveProperty('reason')
  }
  expect(await detectFileKind(sound.subarray(0, -2))).toHaveProperty('reason')
  const video = await makeRecording(format, 2, { hasVideo: true })
  expect(await detectFileKind(video)).toHaveProperty('reason')
})

test('accepts recordings of a browser', async () => {
  expect(await detectFileKind(chromeMp4)).toMatchObject({ type: 'audio/mp4', seconds: 3.939 })
  expect(await detectFileKind(chromeWebm)).toMatchObject({ type: 'audio/webm', seconds: 3.952 })
})

test('measures FLAC and AAC that only their account gets back', async () => {
  const flac = (samples: number): Uint8Array =>
    join(
      'fLaC',
      [0x80, 0, 0, 34, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0],
      big32(((44_100 << 12) | (1 << 9) | (15 << 4)) >>> 0),
      big32(samples),
      new Uint8Array(16),
    )
  const sound = { kind: 'sound', type: 'audio/flac', seconds: 2, isClaimed: true } as const
  expect(await detectPrivateFileKind(flac(88_200))).toEqual(sound)
  expect(await detectPrivateFileKind(flac(0))).toHaveProperty('reason')
  expect(await detectPrivateFileKind(flac(9).subarray(0, 20))).toHaveProperty('reason')
  expect(await detectFileKind(flac(88_200))).toHaveProperty('reason')
  // 32 bytes at 16 kHz.
  const aac = join([0xff, 0xf1, 0x60, 0x40, 0x04, 0x1f, 0xfc], new Uint8Array(25))
  const second = join(...Array.from({ length: 125 }, () => aac))
  const counted = { kind: 'sound', type: 'audio/aac', seconds: 8 } as const
  expect(await detectPrivateFileKind(second)).toEqual(counted)
  expect(await detectPrivateFileKind(join(second, aac.subarray(0, 9)))).toMatchObject({
    seconds: 8.064,
  })
  for (let end = 0; end < 64; end += 1) await detectPrivateFileKind(second.subarray(0, end))
})

test('rejects an image that declares a huge canvas from its header', async () => {
  const bomb = (width: number, height: number): Uint8Array =>
    join(pngHead(width, height), chunk('IDAT', [0x78, 1, 3, 0, 0, 0, 0, 1]), chunk('IEND', []))
  for (const [width, height] of [
    [60_000, 60_000],
    [9_000, 10],
    [10, 9_000],
    [8_192, 2_049],
  ] as const) {
    const detected = await detectFileKind(bomb(width, height))
    expect(detected).toEqual({
      reason: 'an image may have at most 8192 pixels per side and 16777216 in total',
    })
  }
  expect(await detectFileKind(bomb(8_192, 2_048))).toMatchObject({ width: 8_192, height: 2_048 })
})

test('rejects damaged content', async () => {
  const flipped = png(12, 7)
  flipped[45] = (flipped[45] ?? 0) ^ 1
  expect(await detectFileKind(flipped)).toEqual({ reason: 'the file is damaged' })
  expect(await detectFileKind(gifOf([...u16(65_535), ...u16(65_535)]))).toEqual({
    reason: 'the file is damaged',
  })
  expect(await detectFileKind(wavOf(2, 24_000))).toHaveProperty('reason')
  expect(await detectFileKind(wavOf(1, 0))).toEqual({ reason: 'the audio has no duration' })
  expect(
    await detectFileKind(join(page(0, opusHead), page(96_312, new Uint8Array(40), 8))),
  ).toHaveProperty('reason')
  expect(await detectFileKind(join(frame, '<html>'))).toHaveProperty('reason')
})

test('rejects any other kind', async () => {
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
  for (const other of others) expect(await detectFileKind(join(other))).toHaveProperty('reason')
  expect(await detectFileKind(join('"\xff\xfe"'))).toHaveProperty('reason')
  expect(await detectFileKind(text('[1]\0'))).toHaveProperty('reason')
  expect(await detectFileKind(new Uint8Array(assetBytesMax + 1))).toHaveProperty('reason')
})

test('rejects deeply nested JSON before parsing it', async () => {
  const nested = (depth: number): Uint8Array => text('['.repeat(depth) + ']'.repeat(depth))
  expect(await detectFileKind(nested(64))).toMatchObject({ kind: 'json' })
  expect(await detectFileKind(nested(65))).toEqual({
    reason: 'JSON may be nested at most 64 levels deep',
  })
  expect(
    await detectFileKind(text('[{"a":'.repeat(1_000_000).slice(0, assetBytesMax))),
  ).toHaveProperty('reason')
  expect(await detectFileKind(text(JSON.stringify('['.repeat(99))))).toMatchObject({ kind: 'json' })
})
