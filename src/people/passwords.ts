import { and, eq } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { hasRows } from '../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { newCode, normalizeCode, sha256 } from '../kernel/ids.ts'
import {
  passwordCharsMax,
  passwordCharsMin,
  passwordHashesMax,
  recoveryCodesPerPerson,
} from '../kernel/limits.ts'
import { recoveryCodes } from './tables.ts'

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

/** Creates recovery codes for a person and deletes the earlier ones. */
export async function createRecoveryCodes(db: Db, person: string): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodesPerPerson }, newCode)
  await db.delete(recoveryCodes).where(eq(recoveryCodes.person, person))
  await db.insert(recoveryCodes).values(codes.map((code) => ({ hash: sha256(code), person })))
  return codes
}

const isCodeOf = (person: string, typed: string) =>
  and(eq(recoveryCodes.person, person), eq(recoveryCodes.hash, sha256(normalizeCode(typed))))

/** Returns whether a code is one of the person's codes, without using it. */
export const hasRecoveryCode = (db: Db, person: string, typed: string): Promise<boolean> =>
  hasRows(db, recoveryCodes, isCodeOf(person, typed))

/** Adds one recovery code to those of a person and returns it. */
export async function addRecoveryCode(db: Db, person: string): Promise<string> {
  const code = newCode()
  await db.insert(recoveryCodes).values({ hash: sha256(code), person })
  return code
}

/** Uses a recovery code. Returns false if it is not one of the person's codes. */
export async function consumeRecoveryCode(db: Db, person: string, typed: string): Promise<boolean> {
  const used = await db
    .delete(recoveryCodes)
    .where(isCodeOf(person, typed))
    .returning({ hash: recoveryCodes.hash })
  return used.length > 0
}
