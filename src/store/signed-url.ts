import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { newSecret, sign } from '../kernel/ids.ts'
import { isMissing, writeDurably } from './durable.ts'

const secretPattern = /^[A-Za-z0-9]{40}$/

/**
 * Returns the secret of a file of the data folder (mode 600): "link-secret" signs URLs,
 * "settings-secret" encrypts secrets of the console. Creates it on the first start. A new secret
 * invalidates all signed URLs, or all these settings. Throws when the file is damaged.
 */
export async function openSecret(dir: string, name = 'link-secret'): Promise<string> {
  const path = join(dir, name)
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

/** The query fields of a signed URL, as received. */
export interface LinkSignature {
  expires?: string | undefined
  signature?: string | undefined
}

const signatureOf = (secret: string, path: string, expires: string): string =>
  sign(secret, `look\n${path}\n${expires}`)

/**
 * Returns `path` with an expiry (milliseconds since 1970) and a signature over both. The URL works
 * without a key until it expires (document 1, section 4, operation 15).
 */
export const signPath = (secret: string, path: string, expiresMs: number): string =>
  `${path}?expires=${expiresMs}&signature=${signatureOf(secret, path, String(expiresMs))}`

/** Returns whether the signature fits the path and expiry, and the expiry is in the future. */
export function isSignedPath(
  secret: string,
  path: string,
  marks: LinkSignature,
  nowMs: number,
): boolean {
  const { expires = '', signature = '' } = marks
  const expected = Buffer.from(signatureOf(secret, path, expires))
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !crypto.timingSafeEqual(given, expected)) return false
  return nowMs < Number(expires)
}
