/** The parts of gifenc that are used. The package has no types. */
declare module 'gifenc' {
  type Color = [red: number, green: number, blue: number]

  interface Encoder {
    writeFrame(
      index: Uint8Array,
      width: number,
      height: number,
      options: {
        /** The first frame has the colors of all. */
        palette?: Color[] | undefined
        delay: number
        transparent?: boolean
        transparentIndex?: number
        dispose?: number
      },
    ): void
    finish(): void
    bytes(): Uint8Array<ArrayBuffer>
  }

  export function GIFEncoder(): Encoder
  export function quantize(pixels: Uint8ClampedArray, colorsMax: number): Color[]
  export function applyPalette(pixels: Uint8ClampedArray, palette: Color[]): Uint8Array
}
