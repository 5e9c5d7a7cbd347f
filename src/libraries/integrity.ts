/** Strength of the hash functions of Subresource Integrity, section 3.2. */
const strengths = ['sha256', 'sha384', 'sha512'] as const

/**
 * Returns whether bytes match an integrity attribute: one of the hashes of the strongest function
 * (Subresource Integrity, section 3.3.4). An attribute without a known function matches.
 */
export function matchesIntegrity(bytes: Uint8Array, attribute: string): boolean {
  const given = attribute.trim().split(/\s+/)
  for (const name of strengths.toReversed()) {
    const hashes = given.filter((one) => one.startsWith(`${name}-`))
    if (hashes.length === 0) continue
    const own = new Bun.CryptoHasher(name).update(bytes).digest('base64')
    return hashes.some((one) => one.slice(name.length + 1).split('?', 1)[0] === own)
  }
  return true
}
