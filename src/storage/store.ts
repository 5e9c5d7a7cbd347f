/** What put answers: the name of the content (SHA-256, 64 hex digits) and its size in bytes. */
export interface Stored {
  sha256: string
  bytes: number
}

/** What a sweep did: files looked at, files removed, and the bytes those held. */
export interface Swept {
  files: number
  removed: number
  bytes: number
}

/** Files and bytes kept, and the bytes free on the disk; Infinity where there is no end. */
export interface Usage {
  files: number
  bytes: number
  free: number
}

/** Which of these contents some row names. Asked with at most `sweepBatch` names. */
export type IsReferenced = (sha256s: string[]) => Promise<Set<string>>

/**
 * Bytes kept under the SHA-256 of what they are. Nothing here knows what the bytes are for: rows
 * name them, and a caller puts the bytes first and writes the row second.
 */
export interface Storage {
  /**
   * Keeps `bytes`, durably, before it answers. The same content again is kept once. Refuses with
   * try_again, and keeps nothing, when there is no room or the place cannot be written.
   */
  put(bytes: Uint8Array): Promise<Stored>
  /**
   * The bytes, or undefined. They are not hashed again: a file appears under its name only when it
   * is whole and on disk, and SHA-256 of 4 MB would cost every reader more than the read does.
   */
  read(sha256: string): Promise<Uint8Array | undefined>
  /** The same, not read yet: an answer sends all of it, or the range that is asked for. */
  open(sha256: string): Promise<Blob | undefined>
  has(sha256: string): Promise<boolean>
  /** Removes the bytes, referenced or not: for content that must go. */
  remove(sha256: string): Promise<void>
  /**
   * Removes what no row names and nobody put for `olderThanMs`, which must be longer than the time
   * between a put and its row.
   */
  sweep(isReferenced: IsReferenced, olderThanMs: number): Promise<Swept>
  /** Looks at every file: for operators, not for a request. */
  usage(): Promise<Usage>
  /** Bytes free on the disk. */
  free(): number
  /** Refuses with try_again when `bytes` more would leave less than the floor free. */
  checkRoom(bytes: number): void
}
