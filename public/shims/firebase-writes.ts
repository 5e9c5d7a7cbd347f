/**
 * Writes of Firestore. A batch and a transaction are one commit of `service.db`. Source:
 * https://firebase.google.com/docs/reference/js/firestore_ (November 2026).
 */
import type { BatchWrite } from '../bridge/service-types.ts'
import { db } from './bridge-calls.ts'
import { FirebaseError } from './firebase-error.ts'
import { CollectionReference, doc, DocumentReference, storedPath } from './firebase-references.ts'
import { DocumentSnapshot, run } from './firebase-snapshots.ts'
import { encodeFields, encodeUpdate, FieldPath } from './firebase-values.ts'

interface SetOptions {
  merge?: boolean
  mergeFields?: string[]
}

/** Returns the fields that `mergeFields` names, or all. */
const fieldsOf = (data: object, { mergeFields }: SetOptions): object =>
  mergeFields
    ? Object.fromEntries(Object.entries(data).filter(([name]) => mergeFields.includes(name)))
    : data

function setOf(ref: DocumentReference, data: object, options: SetOptions = {}): BatchWrite {
  const path = storedPath(ref.path)
  const isMerged = options.merge === true || options.mergeFields !== undefined
  const fields = encodeFields(fieldsOf(data, options))
  return isMerged
    ? { op: 'update', path, data: fields, create: true }
    : { op: 'set', path, data: fields }
}

type Change = [field: string | FieldPath, value: unknown]

/** Reads the changes of an update: an object, or fields and values in turn. */
function changesOf(given: unknown[]): Change[] {
  const [first] = given
  if (typeof first === 'string' || first instanceof FieldPath) {
    const changes: Change[] = []
    for (let at = 0; at < given.length; at += 2) {
      const field = given[at]
      changes.push([field instanceof FieldPath ? field : String(field), given[at + 1]])
    }
    return changes
  }
  return Object.entries(Object(first))
}

const updateOf = (ref: DocumentReference, given: unknown[]): BatchWrite => ({
  op: 'update',
  path: storedPath(ref.path),
  data: encodeUpdate(changesOf(given)),
})

const deleteOf = ({ path }: DocumentReference): BatchWrite => ({
  op: 'delete',
  path: storedPath(path),
})

const commit = async (writes: BatchWrite[]): Promise<void> => {
  if (writes.length > 0) await run(db.batch(writes))
}

export const setDoc = (ref: DocumentReference, data: object, options?: SetOptions): Promise<void> =>
  commit([setOf(ref, data, options)])

export const updateDoc = (ref: DocumentReference, ...given: unknown[]): Promise<void> =>
  commit([updateOf(ref, given)])

export const deleteDoc = (ref: DocumentReference): Promise<void> => commit([deleteOf(ref)])

export async function addDoc(
  collection: CollectionReference,
  data: object,
): Promise<DocumentReference> {
  const ref = doc(collection)
  await setDoc(ref, data)
  return ref
}

/** Writes that happen together or not at all. */
export class WriteBatch {
  readonly #writes: BatchWrite[] = []

  set(ref: DocumentReference, data: object, options?: SetOptions): this {
    this.#writes.push(setOf(ref, data, options))
    return this
  }

  update(ref: DocumentReference, ...given: unknown[]): this {
    this.#writes.push(updateOf(ref, given))
    return this
  }

  delete(ref: DocumentReference): this {
    this.#writes.push(deleteOf(ref))
    return this
  }

  /** `checks` are the versions that the writes depend on. */
  commit(checks: BatchWrite[] = []): Promise<void> {
    return commit([...checks, ...this.#writes])
  }
}

export const writeBatch = (): WriteBatch => new WriteBatch()

/** A batch that knows the versions of what it has read. */
export class Transaction extends WriteBatch {
  readonly #read = new Map<string, number>()

  async get(ref: DocumentReference): Promise<DocumentSnapshot> {
    const path = storedPath(ref.path)
    const stored = await run(db.doc(path).get())
    this.#read.set(path, stored.version ?? 0)
    return new DocumentSnapshot(ref, stored)
  }

  end(): Promise<void> {
    return this.commit([...this.#read].map(([path, version]) => ({ op: 'check', path, version })))
  }
}

const attemptsMax = 5

/** Runs a function again while other players change what it has read. */
export async function runTransaction<Result>(
  _: unknown,
  update: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const transaction = new Transaction()
    const result = await update(transaction)
    try {
      await transaction.end()
      return result
    } catch (error) {
      const isRetried = error instanceof FirebaseError && error.code === 'aborted'
      if (!isRetried || attempt === attemptsMax) throw error
    }
  }
}
