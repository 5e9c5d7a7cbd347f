import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A record occupies whole slots, so that a freed record leaves a place for another. */
const slotBytes = 1_024
const journalBytes = 4 * 1_048_576
/** Bytes before the text of a record: its length, and its checksum. */
const lengthBytes = 4
const headerBytes = lengthBytes + 32
const growBytes = 65_536

/** A record of the journal: its text, and the slots that it occupies. */
export interface JournalRecord {
  text: string
  first: number
  slots: number
}

/**
 * A file of texts that survive a crash and a full disk. It is allocated once and written in place,
 * with a sync before an append resolves. A checksum over `secret`, position and text tells a whole
 * record from a torn one and from the content of an older one. One process uses a file at a time.
 */
export class Journal {
  /** The records that an earlier process left. */
  readonly found: JournalRecord[]
  private used: Uint8Array
  /** Resolves when the space is allocated. */
  private ready: Promise<void> = Promise.resolve()
  private running: Promise<unknown> = Promise.resolve()
  private queued: Promise<void> | undefined

  private constructor(
    private readonly file: FileHandle,
    private readonly secret: string,
    content: Buffer,
  ) {
    this.used = new Uint8Array(Math.floor(content.length / slotBytes))
    this.found = [...this.readRecords(content)]
    for (const { first, slots } of this.found) this.used.fill(1, first, first + slots)
  }

  /** Opens a journal. Allocates its space, or what a full disk leaves of it. */
  static async open(path: string, secret: string, bytes = journalBytes): Promise<Journal> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    const { size } = await file.stat()
    if (size > 0) {
      const content = Buffer.allocUnsafe(await allocate(file, path, bytes))
      const { bytesRead } = await file.read(content, 0, content.length, 0)
      return new Journal(file, secret, content.subarray(0, bytesRead))
    }
    // A new journal has nothing to replay, so the start does not wait for its space.
    const journal = new Journal(file, secret, Buffer.alloc(0))
    journal.ready = allocate(file, path, bytes)
      .then((allocated) => void (journal.used = new Uint8Array(Math.floor(allocated / slotBytes))))
      .catch(() => undefined)
    return journal
  }

  /** Writes a record durably. Returns undefined when no free slots are left for it. */
  async append(text: string): Promise<JournalRecord | undefined> {
    const payload = Buffer.from(text)
    const slots = Math.ceil((headerBytes + payload.length) / slotBytes)
    await this.ready
    const first = this.findFree(slots)
    if (first === undefined) return undefined
    this.used.fill(1, first, first + slots)
    const header = Buffer.alloc(lengthBytes)
    header.writeUInt32LE(payload.length)
    try {
      await this.write([header, this.checksum(first, payload), payload], first)
      await this.sync()
    } catch (error) {
      this.used.fill(0, first, first + slots)
      throw error
    }
    return { text, first, slots }
  }

  /** Removes a record. A crash may bring it back, so its reader must tolerate that. */
  async remove({ first, slots }: JournalRecord): Promise<void> {
    await this.write([Buffer.alloc(slots * slotBytes)], first)
    this.used.fill(0, first, first + slots)
  }

  async close(): Promise<void> {
    await this.ready
    await this.file.close()
  }

  private findFree(slots: number): number | undefined {
    for (let first = 0, length = 0; first + length < this.used.length;) {
      if (this.used[first + length]) [first, length] = [first + length + 1, 0]
      else if (++length === slots) return first
    }
    return undefined
  }

  private async write(parts: Uint8Array[], slot: number): Promise<void> {
    const bytes = Buffer.concat(parts)
    for (let at = 0; at < bytes.length;) {
      const left = bytes.length - at
      at += (await this.file.write(bytes, at, left, slot * slotBytes + at)).bytesWritten
    }
  }

  /** Syncs once for all writes that ended before. */
  private sync(): Promise<void> {
    this.queued ??= this.running.then(() => {
      this.queued = undefined
      return this.file.datasync()
    })
    this.running = this.queued.catch(() => undefined)
    return this.queued
  }

  private checksum(slot: number, payload: Uint8Array): Uint8Array {
    return new Bun.CryptoHasher('sha256', this.secret).update(`${slot} `).update(payload).digest()
  }

  private *readRecords(bytes: Buffer): Generator<JournalRecord> {
    for (let first = 0; first < this.used.length;) {
      const length = bytes.readUInt32LE(first * slotBytes)
      // Nearly all slots are free, and the start waits for all of them.
      const text = length === 0 ? undefined : this.readText(bytes, first, length)
      const slots = text === undefined ? 1 : Math.ceil((headerBytes + length) / slotBytes)
      if (text !== undefined) yield { text, first, slots }
      first += slots
    }
  }

  /** Returns the text of the record in a slot; undefined for a torn or an older one. */
  private readText(bytes: Buffer, slot: number, length: number): string | undefined {
    const start = slot * slotBytes + headerBytes
    const payload = bytes.subarray(start, start + length)
    const stored = bytes.subarray(start - headerBytes + lengthBytes, start)
    const isWhole = payload.length === length && stored.equals(this.checksum(slot, payload))
    return isWhole ? payload.toString() : undefined
  }
}

/** Fills a file with zeros up to `bytes`, or until the disk is full. Returns the file's size. */
async function allocate(file: FileHandle, path: string, bytes: number): Promise<number> {
  let { size } = await file.stat()
  if (size >= bytes) return size
  try {
    const zeros = Buffer.alloc(growBytes)
    while (size < bytes) {
      size += (await file.write(zeros, 0, Math.min(growBytes, bytes - size), size)).bytesWritten
    }
  } catch {
    // A smaller journal is better than none. The next start makes it larger.
  }
  await file.sync()
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
  return size
}
