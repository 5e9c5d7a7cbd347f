/** The form in which the recorder hands the last four seconds of an app to the shell. */

/** Over the port, recorder to shell: there is a first image, the key was pressed, the reply. */
export type FromRecorder =
  { type: 'ready' } | { type: 'pressed' } | { type: 'taken'; recorded: Recorded | undefined }

/** Over the port, shell to recorder. */
export interface TakeMoment {
  type: 'take'
}

/** The key that makes a moment, in the app and in the shell. */
export const momentKey = 'F2'

/** The shortest time between two images, and that of all. */
export const everyMs = 100
export const momentMs = 4_000
/** The images are in one sheet, as a grid whose places are used in turn. */
export const columns = 6
export const rows = 7
export const framesMax = columns * rows
/** Bounds of an image, in pixels: 400 x 225, 300 x 300, 225 x 400. */
export const frameSize = { pixelsMax: 90_000, sideMax: 480 }
/** Bounds of the newest image, which becomes a cover. */
export const stillSize = { pixelsMax: 576_000, sideMax: 1_280 }

/** The reply of the recorder. An app may send anything in its place. */
export interface Recorded {
  sheet: ImageData
  /** When each place of the sheet was drawn, in ms. */
  times: number[]
  still: ImageData
  /** The color below the canvases. */
  background: string
}
