import { isoCBOR } from '@simplewebauthn/server/helpers'

/** Deviations of an authenticator from the standard, for one response. */
interface Odd {
  origin?: string
  rpId?: string
  /** Signature counter to send. */
  counter?: number
  /** False omits user verification. */
  verified?: boolean
  userHandle?: string
  challenge?: string
}

const base64 = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url')

const hash = (data: string | Uint8Array): Buffer =>
  Buffer.from(new Bun.CryptoHasher('sha256').update(data).digest())

const bytes = (number: number, length: number): Buffer => {
  const buffer = Buffer.alloc(length)
  buffer.writeUIntBE(number, 0, length)
  return buffer
}

/** A device with one passkey, as a browser presents it to a page (WebAuthn Level 3, section 6). */
export class Authenticator {
  private readonly id = crypto.getRandomValues(new Uint8Array(16))
  private readonly keys = crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
  ])
  private counter = 0
  private user = ''

  constructor(private readonly origin: string) {}

  /** Returns the result of `navigator.credentials.create()` as JSON. */
  async create(options: string, odd: Odd = {}): Promise<string> {
    const { challenge, user } = JSON.parse(options)
    this.user = user.id
    const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', (await this.keys).publicKey)
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ])
    const kept = [Buffer.alloc(16), bytes(this.id.length, 2), this.id, isoCBOR.encode(key)]
    const authData = new Uint8Array(Buffer.concat([this.head(odd, 0x40), ...kept]))
    const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', authData],
    ])
    return this.toResponseJson({
      clientDataJSON: base64(this.clientData('webauthn.create', challenge, odd)),
      attestationObject: base64(isoCBOR.encode(attestation)),
    })
  }

  /** Returns the result of `navigator.credentials.get()` as JSON. */
  async get(options: string, odd: Odd = {}): Promise<string> {
    this.counter += 1
    const data = this.clientData('webauthn.get', JSON.parse(options).challenge, odd)
    const authData = this.head(odd)
    const signed = Buffer.concat([authData, hash(data)])
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const made = await crypto.subtle.sign(algorithm, (await this.keys).privateKey, signed)
    return this.toResponseJson({
      clientDataJSON: base64(data),
      authenticatorData: base64(authData),
      signature: base64(der(Buffer.from(made))),
      userHandle: odd.userHandle ?? this.user,
    })
  }

  private clientData(type: string, challenge: string, odd: Odd): string {
    const origin = odd.origin ?? this.origin
    const fields = { type, challenge: odd.challenge ?? challenge, origin, crossOrigin: false }
    return JSON.stringify(fields)
  }

  private head(odd: Odd, flags = 0): Buffer {
    const rpId = odd.rpId ?? new URL(this.origin).hostname
    const flagByte = (odd.verified === false ? 0x01 : 0x05) | flags
    return Buffer.concat([hash(rpId), Buffer.of(flagByte), bytes(odd.counter ?? this.counter, 4)])
  }

  private toResponseJson(response: Record<string, string>): string {
    const id = base64(this.id)
    const rest = { type: 'public-key', clientExtensionResults: {} }
    return JSON.stringify({ id, rawId: id, response, ...rest })
  }
}

/** Encodes a signature of two numbers as ASN.1 DER, the format of authenticators. */
function der(signature: Buffer): Buffer {
  const number = (part: Buffer): Buffer => {
    const first = part.findIndex((byte) => byte !== 0)
    const short = part.subarray(first)
    const whole = (short[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.of(0), short]) : short
    return Buffer.concat([Buffer.of(2, whole.length), whole])
  }
  const both = Buffer.concat([number(signature.subarray(0, 32)), number(signature.subarray(32))])
  return Buffer.concat([Buffer.of(0x30, both.length), both])
}

/** Returns the options in a page's passkey form. */
export function optionsIn(page: unknown): string {
  const [, text = ''] = /data-options="([^"]*)"/.exec(String(page)) ?? []
  return text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
