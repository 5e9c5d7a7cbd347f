import { existsSync } from 'node:fs'

import { binaryPath } from './server-process.ts'

/**
 * Starts `dist/berth` with these arguments in a folder. It sees no file of this checkout and no
 * environment variable except PATH. Throws if there is no executable.
 */
export function startBinary(words: string[], cwd: string) {
  if (!existsSync(binaryPath)) throw new Error('dist/berth is missing: run ./scripts/build first')
  return Bun.spawn([binaryPath, ...words], {
    cwd,
    env: { PATH: Bun.env.PATH },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
}

/** Reads stdout until it matches. Throws with all output if it ends before. */
export async function readUntil(
  { stdout, stderr }: ReturnType<typeof startBinary>,
  end: RegExp,
): Promise<string> {
  const decoder = new TextDecoder()
  const reader = stdout.getReader()
  let output = ''
  while (!end.test(output)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The process ended before ${end}:\n${output}${await stderr.text()}`)
    output += decoder.decode(value, { stream: true })
  }
  reader.releaseLock()
  return output
}
