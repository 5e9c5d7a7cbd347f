import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { newSecret } from '../core/ids.ts'
import { isMissing, writeDurably } from './durable.ts'

const secretPattern = /^[A-Za-z0-9]{40}$/

/**
 * Returns the secret that signs URLs, from `<dir>/link-secret` (mode 600). Creates it on the first
 * start. A new secret invalidates all signed URLs. Throws when the file is damaged.
 */
export async function openSecret(dir: string): Promise<string> {
  const path = join(dir, 'link-secret')
  try {
    const kept = readFileSync(path, 'utf8').trim()
    if (!secretPattern.test(kept)) {
      throw new Error(`${path} is damaged. Remove it: the next start creates a new secret.`)
    }
    chmodSync(path, 0o600)
    return kept
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const secret = newSecret()
  await writeDurably(path, Buffer.from(`${secret}\n`), { mode: 0o600 })
  return secret
}
