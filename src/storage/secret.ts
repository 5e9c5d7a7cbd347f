import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { newSecret } from '../core/ids.ts'
import { isMissing, writeDurably } from './durable.ts'

const secretPattern = /^[A-Za-z0-9]{40}$/

/**
 * The secret that signs links, kept in `<dir>/link-secret`, readable by its owner alone. It is made
 * at the first start; a new one ends every link that is out. Throws when the file is damaged.
 */
export async function openSecret(dir: string): Promise<string> {
  const path = join(dir, 'link-secret')
  try {
    const kept = readFileSync(path, 'utf8').trim()
    if (!secretPattern.test(kept)) {
      throw new Error(`${path} is damaged: remove it, and a new secret is made at the next start`)
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
