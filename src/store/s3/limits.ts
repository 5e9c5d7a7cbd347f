/** Limits of storage in a bucket. */
export const mb = 1_048_576

export const s3AttemptsMax = 3
/** The time of one attempt until its response, and per megabyte of its body. */
export const s3AttemptMs = 5_000
export const s3MsPerMegabyte = 1_000
/** Requests to the store at once, and more that wait. */
export const s3RequestsMax = 64
export const s3WaitingMax = 10_000
/** Files above this are uploaded in parts of this size, and read into the cache as a stream. */
export const s3PartBytes = 8 * mb
export const s3CachedFilesMax = 100_000
