import { CallError } from '../bridge/protocol.ts'

/** The error of each call of Firebase. */
export class FirebaseError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'FirebaseError'
  }
}

const codes = new Map([
  ['not_granted', 'permission-denied'],
  ['not_own', 'permission-denied'],
  ['not_declared', 'permission-denied'],
  ['not_found', 'not-found'],
  ['bad_request', 'invalid-argument'],
  ['too_large', 'invalid-argument'],
  ['data_full', 'resource-exhausted'],
  ['storage_full', 'resource-exhausted'],
  ['data_limit', 'resource-exhausted'],
  ['document_changed', 'aborted'],
  ['offline', 'unavailable'],
  ['unavailable', 'unavailable'],
])

/** Returns an error of `service` as Firebase has it. */
export function firebaseError(error: unknown): Error {
  const { code = '', message = '' } = error instanceof CallError ? error : {}
  const given = error instanceof Error ? error : new Error(String(error))
  const own = code || String(Reflect.get(given, 'code') ?? '')
  return new FirebaseError(codes.get(own) ?? 'unknown', message || given.message)
}

/** Returns a function that throws: what it does has no counterpart here. It may be a class. */
export const unsupported = (name: string): (() => never) =>
  function () {
    const help = 'Apps have firebase/auth and firebase/firestore.'
    throw new FirebaseError('unimplemented', `${name} is not available here. ${help}`)
  }

/** Returns what stands for a member of a module that has no counterpart here. */
export const absent = (module: string, name: string): (() => never) =>
  unsupported(`${name} of ${module}`)
