import { expect, test } from 'bun:test'

import { makeMp4, makeWebm } from '../testing/films.ts'
import { filmLengthOf, filmTypeOf } from './videos.ts'

const mp4 = 'video/mp4'
const webm = 'video/webm'

test('a film is told by its first bytes; pictures, sound and Matroska in such boxes are none', () => {
  expect(filmTypeOf(makeMp4(1))).toBe(mp4)
  expect(filmTypeOf(makeWebm(1))).toBe(webm)
  for (const brand of ['M4A ', 'avif', 'heic', 'mif1']) {
    expect(filmTypeOf(Buffer.from(`\0\0\0\x14ftyp${brand}`, 'latin1'))).toBeUndefined()
  }
  expect(filmTypeOf(Buffer.from('\x1a\x45\xdf\xa3\x88B\x82\x88matroska', 'latin1'))).toBeUndefined()
  expect(filmTypeOf(Buffer.from('ftyp'))).toBeUndefined()
})

test('its length stands in its head, wherever that stands', () => {
  expect(filmLengthOf(makeMp4(1_801), mp4)).toEqual({ seconds: 1_801 })
  expect(filmLengthOf(makeWebm(2.5), webm)).toEqual({ seconds: 2.5 })
  expect(filmLengthOf(makeMp4(0), mp4)).toEqual({ seconds: undefined })
})

test('a long box, an element of unknown size, and a version of 64 bits are read', () => {
  const header = Buffer.alloc(40)
  header[0] = 1
  header.writeUInt32BE(600, 20)
  header.writeBigUInt64BE(6_000_000_000n, 24)
  const inner = Buffer.concat([Buffer.from('\0\0\0\x30mvhd', 'latin1'), header])
  const head = Buffer.from('\0\0\0\x01moov\0\0\0\0\0\0\0\x40', 'latin1')
  expect(filmLengthOf(Buffer.concat([head, inner]), mp4)).toEqual({ seconds: 10_000_000 })
  const open = makeWebm(3)
  const segment = open.indexOf(Buffer.from('18538067', 'hex'))
  open.fill(0xff, segment + 5, segment + 12)
  expect(filmLengthOf(open, webm)).toEqual({ seconds: 3 })
})

test('what is cut off or damaged says so, wherever it is cut', () => {
  for (const [film, type] of [
    [makeMp4(9), mp4],
    [makeWebm(9), webm],
  ] as const) {
    expect(filmLengthOf(film.subarray(0, 30), type)).toHaveProperty('unfit')
    for (let end = 12; end < film.length; end += 1) filmLengthOf(film.subarray(0, end), type)
    for (let at = 0; at < film.length; at += 1) {
      filmLengthOf(
        Uint8Array.from(film, (byte, place) => (place === at ? byte ^ 0xff : byte)),
        type,
      )
    }
  }
})
