import { messageOf } from '../kernel/text.ts'
import { systemClock } from '../kernel/time.ts'
import { type ArchiveRequest, writeArchive } from './archives.ts'

declare const self: Worker

/** A percent that is packed, the bytes of the archive, or why there is none. */
export type ArchiveMessage = { done: number } | { bytes: number } | { failure: string }

const post = (message: ArchiveMessage): void => self.postMessage(message)

self.onmessage = async ({ data }: MessageEvent<ArchiveRequest>) => {
  try {
    post({ bytes: await writeArchive(data, systemClock, (done) => post({ done })) })
  } catch (error) {
    post({ failure: messageOf(error) })
  }
}
