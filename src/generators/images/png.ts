import { initWasm, Resvg } from '@resvg/resvg-wasm'
import wasm from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' }

import { readEmbedded } from '../../core/public-files.ts'

let ready: Promise<void> | undefined

/** Renders SVG at its own size. */
export async function pngOf(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  ready ??= readEmbedded(wasm).then((bytes) => initWasm(bytes))
  await ready
  return new Uint8Array(new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng())
}
