import { expect, test } from 'bun:test'

import { tarHeader } from '../../store/tar.ts'
import { tarball } from '../../testing/fixtures/registry.ts'
import { readTarball, TarballError } from './tarball.ts'

const block = 512
const manifest = '{"name":"reef","version":"1.2.3"}'
const files = { 'package/package.json': manifest, 'package/a.js': 'let a' }
const good = Bun.gunzipSync(new Uint8Array(tarball(files)))

/** Returns the header of a file, of this type and with a right sum. */
function headerOf(name: string, bytes: number, kind: string): Uint8Array {
  const header = tarHeader({ name, bytes, mtime: 0 })
  header.set(Buffer.from(kind), 156)
  header.set(Buffer.from(' '.repeat(8)), 148)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return header
}

function fileOf(name: string, text: string, kind = '0'): Uint8Array {
  const bytes = Buffer.from(text)
  const rest = Buffer.alloc((block - (bytes.length % block)) % block)
  return Buffer.concat([headerOf(name, bytes.length, kind), bytes, rest])
}

/** Reads the package with more entries before its own. */
const read = (...more: Uint8Array[]) =>
  readTarball(Bun.gzipSync(new Uint8Array(Buffer.concat([...more, good]))))

const renamed = good.slice()
renamed.set(Buffer.from('b'), 2 * block)
const sized = good.slice()
sized.set(Buffer.from('7'), block * 2 + 134)

test.each([
  ['a name that changed', renamed, 'The header of "package/b.js" is damaged'],
  ['a size that changed', sized, 'The header of "package/a.js" is damaged'],
  ['no end', good.subarray(0, -2 * block), 'its end is missing'],
  ['half a file', good.subarray(0, 3 * block + 3), 'cut off'],
  ['half a header', good.subarray(0, 2 * block + 100), 'its end is missing'],
])('rejects a tarball with %s', (_, tar, why) => {
  const read = () => readTarball(Bun.gzipSync(new Uint8Array(tar)))
  expect(read).toThrow(TarballError)
  expect(read).toThrow(why)
})

test('reads a package of as many files as Shoelace has', () => {
  const icons = Array.from({ length: 5_200 }, (_, at) => [`package/icons/${at}.svg`, '<svg/>'])
  const { files: read } = readTarball(tarball({ ...files, ...Object.fromEntries(icons) }))
  expect(read.size).toBe(5_202)
})

test.each([
  ['package/link.js', '2', 'is a link or a special file'],
  ['package/hard.js', '1', 'is a link or a special file'],
  ['package/device', '4', 'is a link or a special file'],
  ['package/a.js', '0', 'has "package/a.js" twice'],
  ['other/a.js', '0', 'has "package/a.js" twice'],
  ['/etc/a.js', '0', 'leaves the package'],
  ['C:/a.js', '0', 'leaves the package'],
  ['../../a.js', '0', 'leaves the package'],
  ['package/../../a.js', '0', 'leaves the package'],
  ['package\\..\\a.js', '0', 'leaves the package'],
])('rejects a tarball with %s of type %s', (path, kind, why) => {
  expect(() => read(fileOf(path, '', kind))).toThrow(why)
})

test('rejects paths of pax and GNU headers that leave the package', () => {
  const pax = fileOf('PaxHeader', '20 path=../../evil.js\n', 'x')
  const gnu = fileOf('././@LongLink', '/etc/evil.js\0', 'L')
  for (const header of [pax, gnu]) {
    expect(() => read(header, fileOf('package/b.js', ''))).toThrow('leaves the package')
  }
})

test('reads long paths, folders and a tarball that is whole', () => {
  const long = `package/${'folder/'.repeat(20)}long.js`
  const pax = fileOf('PaxHeader', `${long.length + 10} path=${long}\n`, 'x')
  const gnu = fileOf('././@LongLink', `${long.replace('long', 'other')}\0`, 'L')
  const folder = fileOf('package/img/', '', '5')
  const short = fileOf('package/short.js', 'let b')
  const found = read(folder, pax, short, gnu, short)
  const inside = long.replace('package/', '')
  const names = [inside, inside.replace('long', 'other'), 'package.json', 'a.js']
  expect([found.name, ...found.files.keys()]).toEqual(['reef', ...names])
})

test('reads a version as npm does', () => {
  const files = { 'package/package.json': '{"name":"reef","version":"v1.2.3"}' }
  const packed = new Uint8Array(tarball(files))
  expect(readTarball(packed)).toMatchObject({ name: 'reef', version: '1.2.3' })
})
