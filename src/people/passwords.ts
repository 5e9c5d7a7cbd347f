import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { passwordCharsMax, passwordCharsMin, passwordHashesMax } from '../kernel/limits.ts'

/** The OWASP minimum for argon2id: 19 MiB, two iterations, one thread. */
const cost = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

let running = 0

/** Limits concurrent hashing, which takes memory and CPU time. Throws `try_again`. */
async function withHashLimit<T>(work: () => Promise<T>): Promise<T> {
  if (running >= passwordHashesMax) throw new ApiError('try_again', {})
  running += 1
  return work().finally(() => void (running -= 1))
}

/** Throws `bad_request` for a password that is too short, too long, or the person's name. */
export function validatePassword(password: string, name: string): void {
  const chars = [...password].length
  if (chars >= passwordCharsMin && chars <= passwordCharsMax && password.toLowerCase() !== name) {
    return
  }
  rejectRequest(
    `A password must have ${passwordCharsMin} to ${passwordCharsMax} characters and differ from your name.`,
  )
}

/** Returns the hash to store. */
export const hashPassword = (password: string): Promise<string> =>
  withHashLimit(() => Bun.password.hash(password, cost))

let dummyHash: Promise<string> | undefined

/** Returns whether a password is right. Takes equally long without a stored hash. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  dummyHash ??= Bun.password.hash('dummy', cost)
  const hash = stored ?? (await dummyHash)
  // Longer passwords are never valid and would only take time.
  const bounded = password.slice(0, passwordCharsMax * 2) || ' '
  return (await withHashLimit(() => Bun.password.verify(bounded, hash))) && stored !== null
}
