import { timingSafeEqual } from 'node:crypto'

import { sign } from '../core/ids.ts'

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
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  return nowMs < Number(expires)
}
