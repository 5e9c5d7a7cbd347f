import { existsSync } from 'node:fs'

import { binaryPath } from './server-process.ts'

/**
 * Starts `dist/berth` with these words in a folder, as a stranger would: nothing of this checkout,
 * and nothing of this environment but PATH, reaches it. Throws when there is no executable.
 */
export function startBinary(words: string[], cwd: string, env: Record<string, string> = {}) {
  if (!existsSync(binaryPath)) throw new Error('dist/berth is missing: run ./scripts/build first')
  return Bun.spawn([binaryPath, ...words], {
    cwd,
    env: { PATH: Bun.env.PATH, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
}

/** Reads stdout until it matches; throws with all that was said when it ends before. */
export async function readUntil(
  { stdout, stderr }: ReturnType<typeof startBinary>,
  end: RegExp,
): Promise<string> {
  const decoder = new TextDecoder()
  const reader = stdout.getReader()
  let said = ''
  while (!end.test(said)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`it ended before ${end}:\n${said}${await stderr.text()}`)
    said += decoder.decode(value, { stream: true })
  }
  reader.releaseLock()
  return said
}
