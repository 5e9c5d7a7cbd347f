import { tarHeader } from '../../store/tar.ts'
import type { InputFile } from './unzip.ts'

const block = 512
const decoder = new TextDecoder()

/** SKILL.md first, then the other files by path. */
export const byPath = (a: { path: string }, b: { path: string }): number =>
  Number(b.path === 'SKILL.md') - Number(a.path === 'SKILL.md') || (a.path < b.path ? -1 : 1)

/** Scripts with an interpreter in their first line may be run. */
const modeOf = (bytes: Uint8Array): number =>
  bytes[0] === 0x23 && bytes[1] === 0x21 ? 0o755 : 0o644

const padding = (bytes: number): number => (block - (bytes % block)) % block

/**
 * Returns a tar archive, the same for the same files: in the order of `byPath`, without times and
 * owners. `folder` is the folder in the archive.
 */
export function packTar(files: readonly InputFile[], folder = ''): Uint8Array<ArrayBuffer> {
  const parts = files.toSorted(byPath).flatMap(({ path, bytes }) => {
    const name = folder === '' ? path : `${folder}/${path}`
    const header = tarHeader({ name, bytes: bytes.byteLength, mtime: 0, mode: modeOf(bytes) })
    return [header, bytes, new Uint8Array(padding(bytes.byteLength))]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * block)])
}

/** Reads the files of an archive of `packTar`. */
export function readTar(tar: Uint8Array): InputFile[] {
  const files: InputFile[] = []
  const text = (from: number, chars: number): string =>
    decoder.decode(tar.subarray(from, from + chars)).replace(/\0.*$/s, '')
  for (let at = 0; tar[at];) {
    const prefix = text(at + 345, 155)
    const size = Number.parseInt(text(at + 124, 12), 8)
    const path = prefix === '' ? text(at, 100) : `${prefix}/${text(at, 100)}`
    const start = at + block
    files.push({ path, bytes: tar.subarray(start, start + size) })
    at = start + size + padding(size)
  }
  return files
}

/** Compresses an archive. Gzip here has no time, so equal archives have equal bytes. */
export const gzip = (tar: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Bun.gzipSync(tar, { level: 9 }))

/** The first time of the zip format. */
const zipEpoch = new Date(1980, 0, 1)

/** Returns a zip with a folder, the same for the same files. */
export async function packZip(files: readonly InputFile[], folder: string): Promise<Uint8Array> {
  const { zipSync } = await import('fflate')
  const entries = files.toSorted(byPath).map(({ path, bytes }) => [`${folder}/${path}`, bytes])
  return zipSync(Object.fromEntries(entries), { mtime: zipEpoch, level: 9 })
}
