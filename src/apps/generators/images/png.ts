import { initWasm, Resvg } from '@resvg/resvg-wasm'

import { readPackageFile } from '../../../kernel/package-files.ts'

let ready: Promise<void> | undefined

/** Renders SVG at its own size. */
export async function pngOf(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  ready ??= readPackageFile('@resvg/resvg-wasm/index_bg.wasm').then(initWasm)
  await ready
  return new Uint8Array(new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng())
}
