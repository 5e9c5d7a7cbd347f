import { newSecret, sha256 } from '../ids.ts'

const mark = 'sealed:'
const cipher = 'AES-GCM'
const ivBytes = 12

const hashOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(sha256(text), 'hex'))

/**
 * Encrypts the secrets that the operator sets in the console (AES-256-GCM, NIST SP 800-38D). The
 * key is not in the database, so that a copy of it opens nothing.
 */
export class Sealing {
  readonly #key: Promise<CryptoKey>

  constructor(secret: string) {
    const bytes = hashOf(`settings\n${secret}`)
    this.#key = crypto.subtle.importKey('raw', bytes, cipher, false, ['encrypt', 'decrypt'])
  }

  /** Encrypts the value of a setting. It opens only under the same name. */
  async seal(name: string, text: string): Promise<string> {
    const iv = hashOf(newSecret()).subarray(0, ivBytes)
    const options = { name: cipher, iv, additionalData: Buffer.from(name) }
    const sealed = await crypto.subtle.encrypt(options, await this.#key, Buffer.from(text))
    return mark + Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
  }

  /** Decrypts a sealed value; returns any other as it is. Undefined where the key is another. */
  async open(name: string, value: string): Promise<string | undefined> {
    if (!value.startsWith(mark)) return value
    const bytes = new Uint8Array(Buffer.from(value.slice(mark.length), 'base64url'))
    const iv = bytes.subarray(0, ivBytes)
    const options = { name: cipher, iv, additionalData: Buffer.from(name) }
    try {
      const text = await crypto.subtle.decrypt(options, await this.#key, bytes.subarray(ivBytes))
      return Buffer.from(text).toString('utf8')
    } catch {
      return undefined
    }
  }
}
