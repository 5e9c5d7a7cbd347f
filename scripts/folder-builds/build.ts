/** Parts that the folders of `scripts/folder-builds.ts` have in common. */
export interface Build {
  packages: string[]
  files: Record<string, string | Uint8Array>
  command: string
  /** The folder or the zip that the tool writes. */
  out: string
  /** Its zip is not for the repository: it is in dist/folder-builds. */
  isLarge?: true
}

export const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR42mP4z8AARAwQCgAf7gP9Y167WwAAAABJRU5ErkJggg==',
    'base64',
  ),
)
/** A module that exports add(a, b). */
export const wasm = Uint8Array.from(
  Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABagsAPg==', 'base64'),
).subarray(0, 41)

/** A triangle as binary glTF 2.0. */
export function triangle(): Uint8Array {
  const points = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0])
  const gltf = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, name: 'triangle' }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 3,
        type: 'VEC3',
        min: [0, 0, 0],
        max: [1, 1, 0],
      },
    ],
    bufferViews: [{ buffer: 0, byteLength: points.byteLength }],
    buffers: [{ byteLength: points.byteLength }],
  }
  const text = JSON.stringify(gltf)
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4))
  const header = (type: string, bytes: Uint8Array): Buffer => {
    const start = Buffer.alloc(8)
    start.writeUInt32LE(bytes.byteLength)
    start.write(type, 4, 'latin1')
    return start
  }
  const bin = Buffer.from(points.buffer)
  const parts = [header('JSON', json), json, header('BIN\0', bin), bin]
  const start = Buffer.alloc(12)
  start.write('glTF', 'latin1')
  start.writeUInt32LE(2, 4)
  start.writeUInt32LE(12 + parts.reduce((sum, { byteLength }) => sum + byteLength, 0), 8)
  return Buffer.concat([start, ...parts])
}

/** Two pixels as Radiance HDR. */
export const hdr = Buffer.concat([
  Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n'),
  Buffer.from([128, 64, 32, 129, 128, 64, 32, 129]),
])

export const send = (values: string): string => `top.postMessage({ said: [${values}] }, '*')`
/** Waits until a style applies, which a tool may load after the script. */
export const styled = `const styled = new Promise((done) => {
  const look = () => getComputedStyle(document.body).color === 'rgb(255, 0, 0)' ? done('styled') : requestAnimationFrame(look)
  look()
})`
export const pictured = (url: string): string =>
  `new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth); i.onerror = () => done('no picture'); i.src = ${url} })`
export const workerSays = (worker: string): string =>
  `new Promise((done) => { const w = ${worker}; w.onmessage = (e) => done(e.data); w.onerror = (e) => done('no worker ' + e.message); w.postMessage(1) })`

export const css = `@font-face { font-family: none; src: local("none") } body { color: red; background: url("./dot.png") }`
export const sources = {
  'src/style.css': css,
  'src/dot.png': png,
  'src/part.js': 'export const part = 2',
  'src/worker.js':
    "import { part } from './part.js'\nonmessage = (e) => postMessage(e.data + part)",
  'src/data.json': '{"n":7}',
}
export const index = (script: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>Build</title></head><body><div id="app"></div>${script}</body></html>`
