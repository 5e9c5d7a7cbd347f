import { expect, test } from 'bun:test'

import { makeMp4, makeWebm } from '../testing/fixtures/videos.ts'
import { detectVideoType, readVideoDuration } from './videos.ts'

const mp4 = 'video/mp4'
const webm = 'video/webm'

test('detects a video by its first bytes; images, audio and Matroska are not videos', () => {
  expect(detectVideoType(makeMp4(1))).toBe(mp4)
  expect(detectVideoType(makeWebm(1))).toBe(webm)
  for (const brand of ['M4A ', 'avif', 'heic', 'mif1']) {
    expect(detectVideoType(Buffer.from(`\0\0\0\x14ftyp${brand}`, 'latin1'))).toBeUndefined()
  }
  expect(
    detectVideoType(Buffer.from('\x1a\x45\xdf\xa3\x88B\x82\x88matroska', 'latin1')),
  ).toBeUndefined()
  expect(detectVideoType(Buffer.from('ftyp'))).toBeUndefined()
})

test('reads the duration from the header, wherever the header is', () => {
  expect(readVideoDuration(makeMp4(1_801), mp4)).toEqual({ seconds: 1_801 })
  expect(readVideoDuration(makeWebm(2.5), webm)).toEqual({ seconds: 2.5 })
  expect(readVideoDuration(makeMp4(0), mp4)).toEqual({ seconds: undefined })
})

test('reads 64-bit boxes and versions, and elements of unknown size', () => {
  const header = Buffer.alloc(40)
  header[0] = 1
  header.writeUInt32BE(600, 20)
  header.writeBigUInt64BE(6_000_000_000n, 24)
  const inner = Buffer.concat([Buffer.from('\0\0\0\x30mvhd', 'latin1'), header])
  const head = Buffer.from('\0\0\0\x01moov\0\0\0\0\0\0\0\x40', 'latin1')
  expect(readVideoDuration(Buffer.concat([head, inner]), mp4)).toEqual({ seconds: 10_000_000 })
  const open = makeWebm(3)
  const segment = open.indexOf(Buffer.from('18538067', 'hex'))
  open.fill(0xff, segment + 5, segment + 12)
  expect(readVideoDuration(open, webm)).toEqual({ seconds: 3 })
})

test('reports a truncated or damaged file', () => {
  for (const [video, type] of [
    [makeMp4(9), mp4],
    [makeWebm(9), webm],
  ] as const) {
    expect(readVideoDuration(video.subarray(0, 30), type)).toHaveProperty('reason')
    for (let end = 12; end < video.length; end += 1) readVideoDuration(video.subarray(0, end), type)
    for (let at = 0; at < video.length; at += 1) {
      readVideoDuration(
        Uint8Array.from(video, (byte, place) => (place === at ? byte ^ 0xff : byte)),
        type,
      )
    }
  }
})
