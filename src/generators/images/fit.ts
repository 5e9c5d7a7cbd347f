import type { Size } from './scene.ts'

/**
 * Filter that makes magenta (#ff00ff) transparent. Alpha falls with the excess of red and blue over
 * green: opaque up to one third, transparent from two thirds.
 */
const keyed =
  '<filter id="key" color-interpolation-filters="sRGB"><feColorMatrix values="' +
  '1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  -1.5 3 -1.5 0 2"/></filter>'

/** Scales a PNG to a size and crops to its center. `key` removes the magenta background. SVG. */
export function fit(png: Uint8Array, { width, height }: Size, key: boolean): string {
  const data = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
  const slice = key ? 'xMidYMid meet' : 'xMidYMid slice'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `${key ? keyed : ''}<image href="${data}" width="${width}" height="${height}" ` +
    `preserveAspectRatio="${slice}"${key ? ' filter="url(#key)"' : ''}/></svg>`
  )
}
