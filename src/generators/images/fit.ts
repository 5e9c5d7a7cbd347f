import type { Size } from './scene.ts'

/**
 * Makes magenta (#ff00ff) transparent and keeps all else: the alpha falls with what red and blue
 * have more than green, from none of it at one third to all of it at two thirds.
 */
const keyed =
  '<filter id="key" color-interpolation-filters="sRGB"><feColorMatrix values="' +
  '1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  -1.5 3 -1.5 0 2"/></filter>'

/** A PNG in a size of ours, its middle where the shapes differ; `key` cuts a sprite out. SVG. */
export function fit(png: Uint8Array, { width, height }: Size, key: boolean): string {
  const data = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
  const slice = key ? 'xMidYMid meet' : 'xMidYMid slice'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `${key ? keyed : ''}<image href="${data}" width="${width}" height="${height}" ` +
    `preserveAspectRatio="${slice}"${key ? ' filter="url(#key)"' : ''}/></svg>`
  )
}
