import type { Bridge } from './bridge.ts'
import { dataUrl } from './data-url.ts'

/** A file that all players of the app load by its relative URL. */
export interface UploadedFile {
  /** For `src`, `fetch` and CSS, in each page of the app, and to store in its data. */
  url: string
  type: string
  bytes: number
}

/** `service.files`: pictures, sounds and JSON of players, which all players of the app load. */
export const openFiles = (call: Bridge) =>
  Object.freeze({
    upload: async (file: Blob): Promise<UploadedFile> =>
      call<UploadedFile>('files.upload', { data: await dataUrl(file) }).result,
  })
