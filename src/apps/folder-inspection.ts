import { sha256 } from '../kernel/ids.ts'
import type { ContentInspection } from './content-scan.ts'
import { readTar } from './folders/archive.ts'
import { imageTypeOf } from './folders/read-pack.ts'
import { scanPack } from './scan/packs/scan-pack.ts'

/** Runs the safety check of packs on the archive of a folder (docs/spec/packs-and-runs.md). */
export async function inspectFolder(tar: Uint8Array): Promise<ContentInspection> {
  const identity = new Uint8Array(tar)
  const texts = readTar(identity).flatMap(({ path, bytes }) =>
    imageTypeOf(path) === undefined ? [{ path, text: new TextDecoder().decode(bytes) }] : [],
  )
  const scan = await scanPack(texts)
  return { scan, title: undefined, sha256: sha256(identity), assetRequests: [], identity }
}
