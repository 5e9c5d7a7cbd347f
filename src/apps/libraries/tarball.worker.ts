import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { readTarball, TarballError, type UnpackedLibrary } from './tarball.ts'

declare const self: Worker

/** A package, or why a tarball has none. */
export type TarballResult = UnpackedLibrary | { invalid: string }

function read(packed: Uint8Array): TarballResult {
  try {
    return readTarball(packed)
  } catch (error) {
    if (error instanceof TarballError) return { invalid: error.message }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  const reply: WorkerReply<TarballResult> = { result: read(data) }
  self.postMessage(reply)
}
