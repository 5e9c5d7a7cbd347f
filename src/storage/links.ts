import { timingSafeEqual } from 'node:crypto'

import { sign } from '../core/ids.ts'

/** The two query fields of a signed link, as they came: text, or nothing. */
export interface LinkMarks {
  expires?: string | undefined
  signature?: string | undefined
}

const signatureOf = (secret: string, path: string, expires: string): string =>
  sign(secret, `look\n${path}\n${expires}`)

/**
 * `path` with an expiry (milliseconds since 1970) and a signature over both, so that whoever holds
 * the link may look without a key until then. Document 1 section 4 operation 15.
 */
export const signLink = (secret: string, path: string, expiresMs: number): string =>
  `${path}?expires=${expiresMs}&signature=${signatureOf(secret, path, String(expiresMs))}`

/** Whether this path was signed by us with this expiry, and the expiry is still to come. */
export function checkLink(secret: string, path: string, marks: LinkMarks, nowMs: number): boolean {
  const { expires = '', signature = '' } = marks
  const wanted = Buffer.from(signatureOf(secret, path, expires))
  const given = Buffer.from(signature)
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false
  return nowMs < Number(expires)
}
