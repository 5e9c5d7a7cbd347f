import { describe, expect, test } from 'bun:test'

import fc from 'fast-check'

import {
  chromeMp4,
  chromeWebm,
  makeRecording,
  recordingFormats,
} from '../testing/fixtures/recordings.ts'
import { makeMp4, makeWebm } from '../testing/fixtures/videos.ts'
import { detectVideoType, readContainer } from './containers.ts'

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
  const video = { kind: 'video', isWhole: true } as const
  expect(readContainer(makeMp4(1_801))).toEqual({ ...video, container: 'mp4', seconds: 1_801 })
  expect(readContainer(makeWebm(2.5))).toEqual({ ...video, container: 'webm', seconds: 2.5 })
  expect(readContainer(makeMp4(0))).toEqual({ ...video, container: 'mp4', seconds: undefined })
})

test('reads 64-bit boxes and versions, and elements of unknown size', () => {
  const header = Buffer.alloc(40)
  header[0] = 1
  header.writeUInt32BE(600, 20)
  header.writeBigUInt64BE(6_000_000_000n, 24)
  const inner = Buffer.concat([Buffer.from('\0\0\0\x30mvhd', 'latin1'), header])
  const type = Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1')
  const head = Buffer.from('\0\0\0\x01moov\0\0\0\0\0\0\0\x40', 'latin1')
  expect(readContainer(Buffer.concat([type, head, inner]))).toMatchObject({ seconds: 10_000_000 })
  const open = makeWebm(3)
  const segment = open.indexOf(Buffer.from('18538067', 'hex'))
  open.fill(0xff, segment + 5, segment + 12)
  expect(readContainer(open)).toMatchObject({ seconds: 3 })
})

test.each(recordingFormats)('reads the tracks and the length of %s', async (format) => {
  const container = format.endsWith('mp4') ? 'mp4' : 'webm'
  for (const seconds of [0.2, 3, 61]) {
    const sound = { kind: 'audio', container, seconds, isWhole: true } as const
    expect(readContainer(await makeRecording(format, seconds))).toEqual(sound)
    const video = { ...sound, kind: 'video' } as const
    expect(readContainer(await makeRecording(format, seconds, { hasVideo: true }))).toEqual(video)
  }
})

test('reads recordings of Chrome, which declare no length', () => {
  for (const [bytes, container, seconds] of [
    [chromeMp4, 'mp4', 3.939],
    [chromeWebm, 'webm', 3.952],
  ] as const) {
    expect(readContainer(bytes)).toEqual({ kind: 'audio', container, seconds, isWhole: true })
    const half = readContainer(bytes.subarray(0, bytes.length / 2))
    expect(half).toMatchObject({ kind: 'audio', isWhole: false })
    expect(Object(half).seconds).toBeWithin(1.5, 2.5)
  }
})

test.each(['live webm', 'fragmented mp4'] as const)(
  'counts a %s from its first sample',
  async (format) => {
    expect(readContainer(await makeRecording(format, 3, { from: 600 }))).toMatchObject({
      seconds: 3,
    })
  },
)

test('takes the length of the samples where the header declares less', async () => {
  const short = Buffer.from(await makeRecording('mp4', 61))
  const header = short.indexOf('mvhd')
  const isLong = short[header + 4] === 1
  const length = header + (isLong ? 28 : 20)
  expect(short.readUInt32BE(length)).toBeGreaterThan(0)
  short.fill(0, length, length + (isLong ? 8 : 4))
  short[length + (isLong ? 7 : 3)] = 1
  expect(readContainer(short)).toMatchObject({ seconds: 61 })
  const webm = Buffer.from(await makeRecording('webm', 61))
  const duration = webm.indexOf('4489', 0, 'hex')
  expect(webm[duration + 2]).toBe(0x88)
  webm.writeDoubleBE(1, duration + 3)
  expect(readContainer(webm)).toMatchObject({ seconds: 61 })
})

test('reports a truncated or damaged file', () => {
  for (const video of [makeMp4(9), makeWebm(9)]) {
    expect(readContainer(video.subarray(0, 30))).toHaveProperty('reason')
    for (let end = 12; end < video.length; end += 1) readContainer(video.subarray(0, end))
    for (let at = 0; at < video.length; at += 1) {
      readContainer(Uint8Array.from(video, (byte, place) => (place === at ? byte ^ 0xff : byte)))
    }
  }
})

describe('returns for any bytes', () => {
  const change = fc.record({ at: fc.nat(), byte: fc.nat(255) })
  const changes = fc.record({ end: fc.nat(), changes: fc.array(change, { maxLength: 12 }) })
  const isExpected = (bytes: Uint8Array): boolean => {
    const info = readContainer(bytes)
    if (info === undefined || 'reason' in info) return true
    return info.seconds === undefined || (info.seconds > 0 && Number.isFinite(info.seconds))
  }

  test.each(recordingFormats)('of a damaged or truncated %s', async (format) => {
    const whole = await makeRecording(format, 1, { hasVideo: true })
    fc.assert(
      fc.property(changes, ({ end, changes }) => {
        const bytes = whole.slice(0, 20 + (end % whole.length))
        for (const { at, byte } of changes) bytes[at % bytes.length] = byte
        return isExpected(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  test('behind the head of a file', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(makeMp4(1), makeWebm(1)),
        fc.uint8Array({ maxLength: 4_000 }),
        (head, bytes) => isExpected(Buffer.concat([head.subarray(0, 40), bytes])),
      ),
      { numRuns: 1_000 },
    )
  })

  test('of 32 MB of the smallest boxes and elements', () => {
    const box = Buffer.from('\0\0\0\x08moov', 'latin1')
    const [first, none] = [makeMp4(1).subarray(0, 20), Buffer.from('ec80', 'hex')]
    const boxes = Buffer.concat([first, Buffer.alloc(32_000_000, box)])
    expect(readContainer(boxes)).toEqual({ reason: 'the file is cut off' })
    const head = makeWebm(1)
    const elements = Buffer.concat([head, Buffer.alloc(32_000_000, none)])
    expect(readContainer(elements)).toMatchObject({ seconds: 1, isWhole: false })
  })
})
