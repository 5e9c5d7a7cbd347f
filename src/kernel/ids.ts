/** The only source of randomness. */
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Random bytes, fetched in bulk for speed. Each is used once and then overwritten. */
const pool = new Uint8Array(4_096)
let drawn = pool.length

function nextByte(): number {
  if (drawn === pool.length) {
    crypto.getRandomValues(pool)
    drawn = 0
  }
  const byte = pool[drawn] ?? 0
  pool[drawn] = 0
  drawn += 1
  return byte
}

/** Returns evenly distributed characters of an alphabet with at most 256 characters. */
function draw(alphabet: string, length: number): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    const byte = nextByte()
    if (byte < fair) text += alphabet[byte % alphabet.length]
  }
  return text
}

export const idChars = 12

/** Returns an id: twelve letters or digits, 71 bits (document 1, section 2). */
export const newId = (): string => draw(letters, idChars)

const inOrder = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const momentChars = 7
const countMax = inOrder.length ** (idChars - momentChars)

/** Returns a whole number as `chars` characters that sort as the number does. */
function ordered(number: number, chars: number): string {
  let text = ''
  for (let left = number; text.length < chars; left = Math.floor(left / inOrder.length)) {
    text = `${inOrder[left % inOrder.length]}${text}`
  }
  return text
}

let countedAt = 0
let count = 0
/** The newest ordered id without its last character. */
let stem = ''

/**
 * Returns an id for rows that are written often: ids of one moment share a page of an index. It
 * reveals its moment and can be guessed. `at` is milliseconds since 1970. Within a millisecond ids
 * count up from a random number.
 */
export function newOrderedId(at: number): string {
  const isSame = at === countedAt
  count = isSame ? (count + 1) % countMax : randomBelow(countMax)
  const last = count % inOrder.length
  if (!isSame || last === 0) {
    const before = ordered(Math.floor(count / inOrder.length), idChars - momentChars - 1)
    stem = ordered(at, momentChars) + before
  }
  countedAt = at
  return stem + inOrder[last]
}

/** Returns the secret part of a key: forty letters or digits, 238 bits. */
export const newSecret = (): string => draw(letters, 40)

/** Returns a claim code: twelve Crockford characters in three groups, "8K2M-Q0ZT-4RWX". */
export const newCode = (): string => draw(crockford, 12).replace(/(.{4})(.{4})(.{4})/, '$1-$2-$3')

/** Returns a code in its original form, however it was typed: the alphabet has no I, L, O, U. */
export const normalizeCode = (typed: string): string =>
  typed
    .slice(0, codeCharsMax)
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
    .replace(/^(.{4})(.{4})(.{4})$/, '$1-$2-$3')

const codeCharsMax = 64

/** Returns a random whole number from 0 to `below` - 1. */
export const randomBelow = (below: number): number =>
  (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % below

export const idPattern = /^[A-Za-z0-9_-]{12}$/

/** Returns SHA-256 in hex. */
export const sha256 = (data: string | Uint8Array): string =>
  Bun.CryptoHasher.hash('sha256', data, 'hex')

/** Returns HMAC-SHA-256 as base64url, for signed links and messages. */
export const sign = (secret: string | Uint8Array, text: string): string =>
  new Bun.CryptoHasher('sha256', secret).update(text).digest('base64url')

/** One AES block does what a pseudorandom permutation does, and needs no mode and no padding. */
const blockCipher = 'aes-256-ecb'
const keyOf = (secret: string, purpose: string): Buffer =>
  new Bun.CryptoHasher('sha256', secret).update(purpose).digest()

/** Seals 16 bytes as 32 hexadecimal digits, which look random and cannot be guessed. */
export function sealBlock(secret: string, purpose: string, block: Uint8Array): string {
  const { createCipheriv } = process.getBuiltinModule('node:crypto')
  const cipher = createCipheriv(blockCipher, keyOf(secret, purpose), null).setAutoPadding(false)
  return Buffer.concat([cipher.update(block), cipher.final()]).toString('hex')
}

/** Opens what `sealBlock` sealed. Other digits give other bytes, which the caller must check. */
export function openBlock(secret: string, purpose: string, sealed: string): Buffer {
  const { createDecipheriv } = process.getBuiltinModule('node:crypto')
  const cipher = createDecipheriv(blockCipher, keyOf(secret, purpose), null).setAutoPadding(false)
  return Buffer.concat([cipher.update(sealed, 'hex'), cipher.final()])
}

/**
 * Runs synchronous work with `next` in place of Math.random, for libraries whose result must be
 * reproducible.
 */
export function withRandom<T>(next: () => number, work: () => T): T {
  const own = Math.random
  Math.random = next
  try {
    return work()
  } finally {
    Math.random = own
  }
}

export const randomBytes = (count: number): Uint8Array =>
  crypto.getRandomValues(new Uint8Array(count))

/** The hexadecimal digits of every byte. */
const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns random hexadecimal digits, for the ids of traces. */
export function newTraceId(digits: 16 | 32): string {
  let text = ''
  while (text.length < digits) text += hexadecimal[nextByte()]
  return text
}
