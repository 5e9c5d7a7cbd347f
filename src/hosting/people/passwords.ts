import { ApiError } from '../../errors.ts'
import { passwordCharsMax, passwordCharsMin, passwordsInHandMax } from '../../limits.ts'

/** OWASP's least for argon2id: 19 MiB, two rounds, one lane. */
const cost = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

let inHand = 0

/** Each takes memory and a core for some time: no more than so many wait for theirs. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  if (inHand >= passwordsInHandMax) throw new ApiError('try_again', {})
  inHand += 1
  return work().finally(() => void (inHand -= 1))
}

/** Refuses bad_request for a password that is too short, too long, or the person's own name. */
export function validatePassword(password: string, name: string): void {
  const chars = [...password].length
  if (chars >= passwordCharsMin && chars <= passwordCharsMax && password.toLowerCase() !== name) {
    return
  }
  const problem =
    `A password has ${passwordCharsMin} to ${passwordCharsMax} characters ` +
    'and is not your name.'
  throw new ApiError('bad_request', { problem })
}

/** The password as it is kept. */
export const hashPassword = (password: string): Promise<string> =>
  bounded(() => Bun.password.hash(password, cost))

let nobodys: Promise<string> | undefined

/** Whether this is the password. Takes as long when there is none to compare it with. */
export async function verifyPassword(password: string, kept: string | null): Promise<boolean> {
  nobodys ??= Bun.password.hash('of nobody', cost)
  const hash = kept ?? (await nobodys)
  // Longer ones were never kept, and would only take time.
  const short = password.slice(0, passwordCharsMax * 2) || ' '
  return (await bounded(() => Bun.password.verify(short, hash))) && kept !== null
}
