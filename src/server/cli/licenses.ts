import { join } from 'node:path'

import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'

/** The binary embeds the text beside its bundle: see scripts/packaging/build-licenses.ts. */
const file = join(import.meta.dir, 'packages/licenses.txt.zst')

/** `berth licenses`: prints the licenses of everything that the binary contains. */
export async function licenses(): Promise<CommandResult> {
  if (!Bun.isStandaloneExecutable) {
    return failed('Only the binary has this list. Build it with ./scripts/build.')
  }
  return succeeded(String(await Bun.zstdDecompress(await Bun.file(file).bytes())))
}
