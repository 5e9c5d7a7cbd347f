import { expect, test } from 'bun:test'
import { deflateRawSync } from 'node:zlib'

import { badZips } from '../../testing/fixtures/bad-zips.ts'
import { toolZips } from '../../testing/fixtures/tool-zips.ts'
import { buildZip, descriptorOf, numbers, type ZipPart } from '../../testing/fixtures/zips.ts'
import { unzip } from './unzip.ts'

const bounds = { bytesMax: 1_000_000, filesMax: 10 }
const decoder = new TextDecoder()

/** Returns the texts of a zip by path, or the result without files. */
async function read(zip: Uint8Array): Promise<object> {
  const result = await unzip(zip, bounds)
  if (!('files' in result)) return result
  return Object.fromEntries(result.files.map(({ path, bytes }) => [path, decoder.decode(bytes)]))
}

const index = '<h1>Reef</h1>\n'
const reef = { 'index.html': index, 'img/ü.json': '{"a":1}\n' }

test.each(Object.entries(toolZips))('reads a zip of %s', async (tool, base64) => {
  const expected = tool === 'infozip-stdin' ? { '-': index } : reef
  expect(await read(Uint8Array.fromBase64(base64))).toEqual(expected)
})

const descriptors = [
  ['with a signature', descriptorOf(index)],
  ['without a signature', descriptorOf(index, 4, false)],
  ['of zip64', descriptorOf(index, 8)],
  ['of zip64 without a signature', descriptorOf(index, 8, false)],
] as const

test.each(descriptors)('reads an entry whose descriptor is %s', async (_, descriptor) => {
  const unknown = { crc: 0, packed: 0, bytes: 0 }
  const entry = { name: 'index.html', text: index, flags: 0x808, descriptor, local: unknown }
  expect(await read(buildZip([entry]))).toEqual({ 'index.html': index })
})

test('reads a zip of Finder: descriptors, names without a mark and files of macOS', async () => {
  const fromFinder = (name: string, text: string): ZipPart => ({
    name: new TextEncoder().encode(name.normalize('NFD')),
    text,
    flags: 8,
    mode: 0o100644,
    descriptor: descriptorOf(text),
    local: { crc: 0, packed: 0, bytes: 0 },
  })
  const folder = { name: 'reef/', method: 0, flags: 0, mode: 0o040755 }
  const zip = buildZip([
    folder,
    fromFinder('reef/index.html', index),
    fromFinder('__MACOSX/reef/._index.html', 'Mac OS X'),
    fromFinder('reef/img/ü.json', '{"a":1}\n'),
    fromFinder('reef/.DS_Store', 'Bud1'),
  ])
  expect(await read(zip)).toEqual(reef)
})

test('reads a zip of Windows: backslashes, old names and names of 7-Zip', async () => {
  const name = Uint8Array.from([...Buffer.from('reef\\img\\'), 0x81, ...Buffer.from('.json')])
  const json = { name, text: '{"a":1}\n', flags: 0 }
  expect(await read(buildZip([{ name: 'reef\\index.html', text: index }, json]))).toEqual(reef)
  const raw = Buffer.from('reef/img/?.json')
  const unicode = Buffer.concat([
    Uint8Array.of(1),
    numbers([4, Bun.hash.crc32(raw)]),
    Buffer.from('reef/img/ü.json'),
  ])
  const extra = Buffer.concat([numbers([2, 0x7075], [2, unicode.length]), unicode])
  const entry = { name: raw, extra, text: '{"a":1}\n', flags: 0 }
  expect(await read(buildZip([{ name: 'reef/index.html', text: index }, entry]))).toEqual(reef)
})

test('reads zip64 with a comment, and stored and empty files', async () => {
  const sizes = (text: string) => numbers([2, 1], [2, 16], [8, text.length], [8, text.length])
  const wide = { packed: 0xffff_ffff, bytes: 0xffff_ffff, extra: sizes(index) }
  const entry = { name: 'index.html', text: index, method: 0, local: wide, central: wide }
  const zip = buildZip([entry, { name: 'empty.txt', method: 0 }], { zip64: {}, comment: 'A reef' })
  expect(await read(zip)).toEqual({ 'index.html': index, 'empty.txt': '' })
})

test('the directory of a zip is bounded before anything is unpacked', async () => {
  const zip = buildZip([{ name: 'a', text: 'a'.repeat(bounds.bytesMax + 1) }])
  expect(await read(zip)).toEqual({ tooLarge: bounds.bytesMax + 1, max: bounds.bytesMax })
  const many = Array.from({ length: 21 }, (_, at) => ({ name: `${at}` }))
  expect(await read(buildZip(many))).toEqual({
    reasons: ['the zip cannot be read: it has 21 files. The limit is 10.'],
  })
})

test.each(badZips)('rejects a zip with %s', async (_, zip, why) => {
  expect(await read(zip)).toEqual({ reasons: [expect.stringContaining(why)] })
})

test('unpacking stops at the announced size', async () => {
  const content = deflateRawSync(new Uint8Array(300_000_000))
  const before = process.memoryUsage.rss()
  const result = await read(buildZip([{ name: 'bomb', text: 'x', content }]))
  expect(result).toEqual({ reasons: [expect.stringContaining('"bomb" is damaged: it is larger')] })
  expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000)
})

test('every zip that is cut is rejected, and every changed byte is found or harmless', async () => {
  const zip = buildZip([
    { name: 'a.txt', text: 'one two' },
    { name: 'b.txt', text: 'three' },
  ])
  for (let length = 0; length < zip.length; length += 1) {
    expect(await read(zip.subarray(0, length))).toHaveProperty('reasons')
  }
  const files = await read(zip)
  for (let at = 0; at < zip.length; at += 1) {
    const changed = zip.slice()
    changed[at] = (changed[at] ?? 0) ^ 0xff
    const result = await read(changed)
    const isRejected = 'reasons' in result || 'tooLarge' in result
    // Times, versions and some attributes are not read.
    expect(isRejected ? files : result).toEqual({ ...files })
  }
})

test.each([
  [
    'Shift_JIS',
    [
      ['テスト.png', '8365835883672e706e67'],
      ['ボタン/音.mp3', '837b835e83932f89b92e6d7033'],
      ['画像/背景.jpg', '89e6919c2f94778c692e6a7067'],
      ['ソース.js', '835c815b83582e6a73'],
      ['BGM曲.ogg', '42474d8bc82e6f6767'],
      ['はじめに.html', '82cd82b682df82c92e68746d6c'],
    ],
  ],
  [
    'code page 437',
    [
      ['Grün.png', '4772816e2e706e67'],
      ['schön/Köln.jpg', '736368946e2f4b946c6e2e6a7067'],
      ['Élève.mp3', '906c8a76652e6d7033'],
      ['château.json', '636883746561752e6a736f6e'],
      ['ÜBER.txt', '9a4245522e747874'],
      ['año.png', '61a46f2e706e67'],
      ['straße.js', '73747261e1652e6a73'],
      ['Ælg.svg', '926c672e737667'],
    ],
  ],
])('reads names in %s, which a zip does not declare', async (_, names) => {
  const part = { text: 'a', flags: 0 }
  // One name alone, and all of them together.
  for (const some of [...names.map((name) => [name]), names]) {
    const zip = buildZip([
      { ...part, name: 'index.html' },
      ...some.map(([, hex]) => ({ ...part, name: Uint8Array.fromHex(hex ?? '') })),
    ])
    expect(Object.keys(await read(zip)).toSorted()).toEqual(
      ['index.html', ...some.map(([name = '']) => name.normalize('NFC'))].toSorted(),
    )
  }
})
