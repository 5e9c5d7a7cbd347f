import { readFile, stat } from 'node:fs/promises'

/** Reads a file that the operator named. Undefined where it is missing or over `bytesMax`. */
export async function readLocalFile(
  path: string,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= bytesMax ? readFile(path) : undefined
}
