/**
 * Values of Firestore as JSON, and back. Times are `{ $timestamp: ISO 8601 }`, which sort as texts.
 * Source: https://firebase.google.com/docs/reference/js/firestore_ (November 2026).
 */

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  Object.prototype.toString.call(value) === '[object Object]'

/** An instant. Only its milliseconds are stored. */
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly nanoseconds: number,
  ) {}

  static now(): Timestamp {
    return Timestamp.fromMillis(Date.now())
  }

  static fromDate(date: Date): Timestamp {
    return Timestamp.fromMillis(date.getTime())
  }

  static fromMillis(ms: number): Timestamp {
    const seconds = Math.floor(ms / 1_000)
    return new Timestamp(seconds, Math.floor((ms - seconds * 1_000) * 1e6))
  }

  toMillis(): number {
    return this.seconds * 1_000 + Math.floor(this.nanoseconds / 1e6)
  }

  toDate(): Date {
    return new Date(this.toMillis())
  }

  isEqual(other: unknown): boolean {
    return other instanceof Timestamp && other.valueOf() === this.valueOf()
  }

  toJSON(): object {
    return { seconds: this.seconds, nanoseconds: this.nanoseconds }
  }

  toString(): string {
    return `Timestamp(seconds=${this.seconds}, nanoseconds=${this.nanoseconds})`
  }

  /** Compares as a text. */
  valueOf(): string {
    return `${String(this.seconds + 62_135_596_800).padStart(12, '0')}.${String(this.nanoseconds).padStart(9, '0')}`
  }
}

export class GeoPoint {
  constructor(
    readonly latitude: number,
    readonly longitude: number,
  ) {}
}

/** Bytes, which Firestore has as a type of its own. */
export class Bytes {
  private constructor(private readonly text: string) {}

  static fromBase64String(text: string): Bytes {
    return new Bytes(text)
  }

  static fromUint8Array(bytes: Uint8Array): Bytes {
    return new Bytes(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')))
  }

  toBase64(): string {
    return this.text
  }

  toUint8Array(): Uint8Array {
    return Uint8Array.from(atob(this.text), (char) => char.charCodeAt(0))
  }
}

/** A change of a field by its stored value, as `service.db` writes it. */
export class FieldValue {
  constructor(readonly change: object) {}
}

const now = { $timestamp: { $now: true } }
export const serverTimestamp = (): FieldValue => new FieldValue(now)
export const increment = (by: number): FieldValue => new FieldValue({ $add: by })
export const deleteField = (): FieldValue => new FieldValue({ $remove: true })
export const arrayUnion = (...items: unknown[]): FieldValue =>
  new FieldValue({ $union: items.map(encode) })
export const arrayRemove = (...items: unknown[]): FieldValue =>
  new FieldValue({ $without: items.map(encode) })

/** A reference to a document, which other documents may have as a value. */
export interface Reference {
  path: string
}

const isReference = (value: unknown): value is Reference =>
  isFields(value) && typeof value['path'] === 'string' && value['type'] === 'document'

/** Returns a value as JSON. */
export function encode(value: unknown): unknown {
  if (value instanceof FieldValue) return value.change
  if (value instanceof Date) return { $timestamp: value.toISOString() }
  if (value instanceof Timestamp) return { $timestamp: value.toDate().toISOString() }
  if (value instanceof GeoPoint) return { $geopoint: [value.latitude, value.longitude] }
  if (value instanceof Bytes) return { $bytes: value.toBase64() }
  if (isReference(value)) return { $reference: value.path }
  if (Array.isArray(value)) return value.map(encode)
  return isFields(value) ? encodeFields(value) : value
}

export function encodeFields(fields: object): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, encode(value)]],
    ),
  )
}

/** A field, or a path of fields with dots. */
export class FieldPath {
  readonly names: string[]
  constructor(...names: string[]) {
    this.names = names
  }
}

/** Returns a copy of the names in a path. */
export const namesOf = (path: string | FieldPath): string[] =>
  path instanceof FieldPath ? [...path.names] : path.split('.')

/** Returns the changes of `updateDoc`, which replaces each field that it names. */
export function encodeUpdate(changes: [path: string | FieldPath, value: unknown][]): Fields {
  const all: Fields = {}
  for (const [path, value] of changes) {
    const names = namesOf(path)
    const last = names.pop() ?? ''
    let at = all
    for (const name of names) {
      const known = at[name]
      const next: Fields = isFields(known) ? known : {}
      at[name] = next
      at = next
    }
    const encoded = encode(value)
    const isMap = isFields(encoded) && !(value instanceof FieldValue)
    if (value !== undefined) at[last] = isMap ? { $replace: encoded } : encoded
  }
  return all
}

/** Returns a stored value as Firestore has it. */
export function decode(value: unknown, open: (path: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => decode(item, open))
  if (!isFields(value)) return value
  const [first, ...more] = Object.entries(value)
  if (first && more.length === 0) {
    const [name, inner] = first
    if (name === '$timestamp') return Timestamp.fromMillis(Date.parse(String(inner)))
    if (name === '$bytes') return Bytes.fromBase64String(String(inner))
    if (name === '$reference') return open(String(inner))
    if (name === '$geopoint' && Array.isArray(inner)) {
      return new GeoPoint(Number(inner[0]), Number(inner[1]))
    }
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, decode(inner, open)]),
  )
}
