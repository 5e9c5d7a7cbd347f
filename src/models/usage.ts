/** What one request used, in whole units (seconds may be parts of one). */
export interface Usage {
  /** All input tokens: `cached` (read from a cache) and `cacheWrite` are parts of it. */
  prompt: number
  cached: number
  cacheWrite: number
  /** All output tokens: `reasoning` is a part of it. */
  completion: number
  reasoning: number
  images: number
  seconds: number
  characters: number
  searches: number
  /** Whether any of it is our own count, or was mended. */
  estimated: boolean
}

/** The most that a request can have used: what is above was not used. */
export interface UsageLimits {
  prompt: number
  completion: number
}

const nothing: Usage = {
  prompt: 0,
  cached: 0,
  cacheWrite: 0,
  completion: 0,
  reasoning: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searches: 0,
  estimated: false,
}

/** A usage in which only the given parts are not 0. */
export const usageOf = (parts: Partial<Usage>): Usage => ({ ...nothing, ...parts })
