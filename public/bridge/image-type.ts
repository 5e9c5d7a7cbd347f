/** First characters of images in base64. */
const starts: [start: string, type: string][] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['PHN2', 'image/svg+xml'],
]

/** Returns the type of an image in base64, by its first bytes. */
export const imageTypeOf = (base64: string): string =>
  starts.find(([start]) => base64.startsWith(start))?.[1] ?? 'image/png'
