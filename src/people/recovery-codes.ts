import { and, eq } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { hasRows } from '../kernel/db/query.ts'
import { newCode, normalizeCode, sha256 } from '../kernel/ids.ts'
import { recoveryCodesPerPerson } from '../kernel/limits.ts'
import { recoveryCodes } from './tables.ts'

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
