import { messageOf } from '../kernel/text.ts'
import { systemClock } from '../kernel/time.ts'
import { type ArchiveRequest, writeArchive } from './archives.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<ArchiveRequest>) => {
  const written = writeArchive(data, systemClock).then((bytes) => ({ bytes }))
  self.postMessage(await written.catch((error: unknown) => ({ failure: messageOf(error) })))
}
