/** A name of content: a SHA-256 in hex. */
export const contentName = /^[0-9a-f]{64}$/

/** The result of a put: the content's name (SHA-256, 64 hex digits) and its size in bytes. */
export interface StoredContent {
  sha256: string
  bytes: number
}

/** The result of `recover`: the content was there, was brought back, or is lost. */
export type FileState = 'present' | 'recovered' | 'missing'

/** The result of a sweep: files examined, files removed, and the bytes of those removed. */
export interface SweepResult {
  files: number
  removed: number
  bytes: number
}

/** Stored files and bytes, and the bytes free on the disk; Infinity where there is no limit. */
export interface Usage {
  files: number
  bytes: number
  free: number
}

/** Returns the contents that a row refers to, out of at most `sweepBatch` names. */
export type IsReferenced = (sha256s: string[]) => Promise<Set<string>>

/**
 * Content-addressed storage: bytes are named by their SHA-256. Rows refer to them, so a caller puts
 * the bytes first and writes the row second.
 */
export interface Storage {
  /**
   * Stores `bytes` durably. Equal content is stored once. Throws `try_again` when the disk is full
   * or not writable, or when the bucket does not respond.
   */
  put(bytes: Uint8Array): Promise<StoredContent>
  /**
   * Returns the bytes, or undefined. They are not hashed again on the way from the disk: a file
   * gets its name only when it is complete and on disk, and hashing 4 MB costs more than reading
   * it. Bytes from a bucket are hashed. Throws `try_again` when it does not respond.
   */
  read(sha256: string): Promise<Uint8Array | undefined>
  /** Returns a lazy Blob, so that a response can send all of it or a range. */
  open(sha256: string): Promise<Blob | undefined>
  has(sha256: string): Promise<boolean>
  /** Removes the bytes even if a row refers to them. */
  remove(sha256: string): Promise<void>
  /**
   * Removes unreferenced content that was last put more than `olderThanMs` ago, which must be
   * longer than the time between a put and its row.
   */
  sweep(isReferenced: IsReferenced, olderThanMs: number): Promise<SweepResult>
  /** Counts every file. Only for operators: it is too slow for a request. */
  usage(): Promise<Usage>
  /** Returns the bytes free on the disk of the data folder. */
  free(): number
  /** Returns whether `bytes` more leave `floors` times the floor free. A bucket has no limit. */
  hasFreeSpace(bytes: number, floors: number): boolean
  /** Throws `try_again` when `bytes` more would leave less free space than the floor. */
  requireFreeSpace(bytes: number): void
  /** Brings content back that was deleted, where a copy of it is left. */
  recover(sha256: string): Promise<FileState>
  /** Describes why the storage does not work right now; undefined while it works. */
  problem(): Promise<string | undefined>
}
