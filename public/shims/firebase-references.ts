/**
 * Documents, collections and queries of Firestore. Source:
 * https://firebase.google.com/docs/reference/js/firestore_ (November 2026).
 */
import { FirebaseError } from './firebase-error.ts'
import { FieldPath } from './firebase-values.ts'
import { newId } from './new-id.ts'

/** The database, of which there is one. */
export class Firestore {
  readonly type = 'firestore'
}
export const firestore = new Firestore()

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0))
const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export class DocumentReference {
  readonly type = 'document'
  readonly firestore = firestore
  readonly id: string

  constructor(readonly path: string) {
    this.id = idOf(path)
  }

  get parent(): CollectionReference {
    return new CollectionReference(parentOf(this.path))
  }
}

export interface Filter {
  field: string
  op: string
  value: unknown
}

export interface Cursor {
  isStart: boolean
  isInclusive: boolean
  values: unknown[]
}

/** A document fulfills all filters, and one of each list of alternatives. */
export interface Condition {
  filters: Filter[]
  alternatives: Condition[][]
}

export interface QueryParts extends Condition {
  orders: { field: string; direction: 'asc' | 'desc' }[]
  cursors: Cursor[]
  limit?: number
  /** The limit keeps the last documents. */
  isLast?: boolean
}

export class Query {
  readonly type: string = 'query'
  readonly firestore = firestore

  constructor(
    readonly path: string,
    readonly parts: QueryParts,
  ) {}
}

const all: QueryParts = { filters: [], alternatives: [], orders: [], cursors: [] }

export class CollectionReference extends Query {
  override readonly type = 'collection'
  readonly id: string

  constructor(path: string) {
    super(path, all)
    this.id = idOf(path)
  }

  get parent(): DocumentReference | null {
    const path = parentOf(this.path)
    return path === '' ? null : new DocumentReference(path)
  }
}

type Parent = Firestore | CollectionReference | DocumentReference

function pathOf(parent: Parent, names: string[]): string[] {
  const start = parent instanceof Firestore ? [] : [parent.path]
  return [...start, ...names].flatMap((part) => String(part).split('/')).filter(Boolean)
}

export function collection(parent: Parent, ...names: string[]): CollectionReference {
  const path = pathOf(parent, names)
  if (path.length % 2 === 1) return new CollectionReference(path.join('/'))
  throw new FirebaseError('invalid-argument', `${path.join('/')} is the path of a document.`)
}

export function doc(parent: Parent, ...names: string[]): DocumentReference {
  const isNew = parent instanceof CollectionReference && names.length === 0
  const path = pathOf(parent, isNew ? [newId()] : names)
  if (path.length % 2 === 0) return new DocumentReference(path.join('/'))
  throw new FirebaseError('invalid-argument', `${path.join('/')} is the path of a collection.`)
}

/** A part of a query. */
export type Constraint = (parts: QueryParts) => QueryParts

/** The name of a document as a field. */
export const idField = '__name__'
const nameOf = (field: string | FieldPath): string =>
  field instanceof FieldPath ? field.names.join('.') : field

export const documentId = (): FieldPath => new FieldPath(idField)

export const where =
  (field: string | FieldPath, op: string, value: unknown): Constraint =>
  (parts) => ({ ...parts, filters: [...parts.filters, { field: nameOf(field), op, value }] })

export const and =
  (...given: Constraint[]): Constraint =>
  (parts) =>
    given.reduce((sum, constrain) => constrain(sum), parts)

export const or =
  (...given: Constraint[]): Constraint =>
  (parts) => {
    const alternatives = given.map((constrain) => constrain(all))
    return { ...parts, alternatives: [...parts.alternatives, alternatives] }
  }

export const orderBy =
  (field: string | FieldPath, direction: 'asc' | 'desc' = 'asc'): Constraint =>
  (parts) => ({ ...parts, orders: [...parts.orders, { field: nameOf(field), direction }] })

export const limit =
  (count: number): Constraint =>
  (parts) => ({ ...parts, limit: count, isLast: false })

export const limitToLast =
  (count: number): Constraint =>
  (parts) => ({ ...parts, limit: count, isLast: true })

const cursor =
  (isStart: boolean, isInclusive: boolean) =>
  (...values: unknown[]): Constraint =>
  (parts) => ({ ...parts, cursors: [...parts.cursors, { isStart, isInclusive, values }] })

export const startAt = cursor(true, true)
export const startAfter = cursor(true, false)
export const endAt = cursor(false, true)
export const endBefore = cursor(false, false)

export const query = ({ path, parts }: Query, ...given: Constraint[]): Query =>
  new Query(path, and(...given)(parts))

/** Returns whether two references or queries are equal. */
export const isEqual = (a: Query | DocumentReference, b: Query | DocumentReference): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

const privatePath = /^artifacts\/([^/]+)\/users\/([^/]+)(?=\/|$)/

/** Returns the path in `service.db`, where `data/users/<player>` is private to that player. */
export const storedPath = (path: string): string => path.replace(privatePath, 'data/users/$2/$1')
