/**
 * Reads of Firestore, once and live. Source:
 * https://firebase.google.com/docs/reference/js/firestore_ (November 2026).
 */
import type {
  DocumentSnapshot as Stored,
  QuerySnapshot as StoredQuery,
} from '../bridge/documents.ts'
import { db } from './bridge-calls.ts'
import { firebaseError } from './firebase-error.ts'
import {
  type Condition,
  DocumentReference,
  idField,
  Query,
  storedPath,
} from './firebase-references.ts'
import { decode, encode, type FieldPath, namesOf } from './firebase-values.ts'

type Fields = Record<string, unknown>

const open = (path: string): DocumentReference => new DocumentReference(path)
const metadata = Object.freeze({ hasPendingWrites: false, fromCache: false })

export class DocumentSnapshot {
  readonly metadata = metadata
  readonly id: string

  constructor(
    readonly ref: DocumentReference,
    private readonly stored: Stored,
  ) {
    this.id = ref.id
  }

  exists(): boolean {
    return this.stored.exists
  }

  /** Returns whether another snapshot has the same content. */
  isSame({ stored }: DocumentSnapshot): boolean {
    return stored.version === this.stored.version
  }

  data(): Fields | undefined {
    const data = this.stored.data()
    if (data === undefined) return undefined
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, decode(value, open)]),
    )
  }

  get(field: string | FieldPath): unknown {
    return namesOf(field).reduce<unknown>(
      (value, name) => Reflect.get(Object(value), name),
      this.data(),
    )
  }
}

const run = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work
  } catch (error) {
    throw firebaseError(error)
  }
}

export const getDoc = (ref: DocumentReference): Promise<DocumentSnapshot> =>
  run(
    db
      .doc(storedPath(ref.path))
      .get()
      .then((stored) => new DocumentSnapshot(ref, stored)),
  )

type ServiceQuery = ReturnType<ReturnType<typeof db.collection>['where']>

const opposite = { asc: 'desc', desc: 'asc' } as const

/** Returns the query of `service.db` with all that it can do itself. */
function compile({ path, parts }: Query): ServiceQuery {
  const { filters, orders, cursors, isLast = false, limit } = parts
  let query: ServiceQuery = db.collection(storedPath(path))
  for (const { field, op, value } of filters) {
    if (field !== idField) query = query.where(field, op, encode(value))
  }
  const fields = orders.filter(({ field }) => field !== idField)
  for (const { field, direction } of fields) {
    // Documents without the field are not found.
    query = query.where(field, 'not-in', [])
    query = query.orderBy(field, isLast ? opposite[direction] : direction)
  }
  const [first] = fields
  for (const { isStart, isInclusive, values } of first ? cursors : []) {
    if (!first) break
    const { field, direction } = first
    const sign = isStart === (direction === 'asc') ? '>' : '<'
    const [value] = values
    const bound = value instanceof DocumentSnapshot ? value.get(field) : value
    // Documents may be equal in the first field, so the others are told apart here.
    const isEqualIn = isInclusive || isPlace(values)
    query = query.where(field, isEqualIn ? `${sign}=` : sign, encode(bound))
  }
  return limit !== undefined && !needsAll(parts) ? query.limit(limit) : query
}

/** Returns whether a cursor is the place of a document, or has several fields. */
const isPlace = ([first, ...more]: unknown[]): boolean =>
  more.length > 0 || first instanceof DocumentSnapshot

/** Returns whether documents are chosen here, before the limit. */
const needsAll = ({
  filters,
  alternatives,
  orders,
  cursors,
  isLast = false,
}: Query['parts']): boolean =>
  alternatives.length > 0 ||
  filters.some(({ field }) => field === idField) ||
  orders.some(({ field }) => field === idField) ||
  cursors.some(({ values }) => isPlace(values)) ||
  (orders.length === 0 && (cursors.length > 0 || isLast))

const comparisons: Record<string, (id: string, given: string[]) => boolean> = {
  '==': (id, [one]) => id === one,
  '!=': (id, [one]) => id !== one,
  in: (id, given) => given.includes(id),
  'not-in': (id, given) => !given.includes(id),
  '<': (id, [one = '']) => id < one,
  '<=': (id, [one = '']) => id <= one,
  '>': (id, [one = '']) => id > one,
  '>=': (id, [one = '']) => id >= one,
}

const idsIn = (value: unknown): string[] =>
  [value]
    .flat()
    .map((one) =>
      one instanceof DocumentReference || one instanceof DocumentSnapshot ? one.id : String(one),
    )

const textOf = (value: unknown): string => JSON.stringify(encode(value)) ?? ''
const itemsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : [])

/** The operators whose value is one that a field has, or a list of those. */
const listOperators: Record<string, (actual: unknown, given: string[]) => boolean> = {
  '==': (actual, [one]) => textOf(actual) === one,
  '!=': (actual, [one]) => textOf(actual) !== one,
  in: (actual, given) => given.includes(textOf(actual)),
  'not-in': (actual, given) => !given.includes(textOf(actual)),
  'array-contains': (actual, given) => itemsOf(actual).some((item) => given.includes(item)),
  'array-contains-any': (actual, given) => itemsOf(actual).some((item) => given.includes(item)),
}

/** Returns whether a document is one of a filter. One without the field is of none. */
function matches(
  document: DocumentSnapshot,
  { field, op, value }: Query['parts']['filters'][number],
): boolean {
  if (field === idField) return comparisons[op]?.(document.id, idsIn(value)) ?? false
  const actual = document.get(field)
  if (actual === undefined) return false
  const given = /in$|any$/.test(op) && Array.isArray(value) ? value : [value]
  const isListed = listOperators[op]
  if (isListed) return isListed(actual, given.map(textOf))
  const order = compare([actual], [value], [{ field, direction: 'asc' }])
  return (order === 0 && op.endsWith('=')) || (order !== 0 && order < 0 === op.startsWith('<'))
}

const fulfills = (document: DocumentSnapshot, { filters, alternatives }: Condition): boolean =>
  filters.every((filter) => matches(document, filter)) &&
  alternatives.every((one) => one.some((condition) => fulfills(document, condition)))

type Order = Query['parts']['orders'][number]

/** Returns the values by which a query orders a document. */
const placeOf = (document: DocumentSnapshot, orders: Order[]): unknown[] =>
  orders.map(({ field }) => (field === idField ? document.id : document.get(field)))

/** Compares places in the order of a query. The second may have fewer values. */
function compare(place: unknown[], other: unknown[], orders: Order[]): number {
  for (const [at, { field, direction }] of orders.slice(0, other.length).entries()) {
    const given = field === idField ? idsIn(other[at])[0] : other[at]
    const [a, b] = [place[at], given].map((one) => (one instanceof Date ? +one : one)?.valueOf())
    if (a === b) continue
    const isNumber = typeof a === 'number' && typeof b === 'number'
    const isBefore = isNumber ? a < b : String(a) < String(b)
    return isBefore === (direction === 'asc') ? -1 : 1
  }
  return 0
}

/** Returns the documents on one side of a cursor. */
function cut(
  documents: DocumentSnapshot[],
  { isStart, isInclusive, values }: Query['parts']['cursors'][number],
  orders: Order[],
): DocumentSnapshot[] {
  const [first] = values
  const isSnapshot = first instanceof DocumentSnapshot
  const at = isSnapshot ? documents.findIndex(({ id }) => id === first.id) : -1
  if (at >= 0) {
    return isStart
      ? documents.slice(isInclusive ? at : at + 1)
      : documents.slice(0, isInclusive ? at + 1 : at)
  }
  const place = isSnapshot ? placeOf(first, orders) : values
  return documents.filter((document) => {
    const order = compare(placeOf(document, orders), place, orders)
    return order === 0 ? isInclusive : isStart === order > 0
  })
}

/** Returns the documents in their order, chosen here where the server cannot do so. */
function chosen({ parts }: Query, found: DocumentSnapshot[]): DocumentSnapshot[] {
  const { filters, alternatives, orders, cursors, limit, isLast = false } = parts
  const byId = orders.every(({ field }) => field === idField)
  const isReversed = byId ? orders[0]?.direction === 'desc' : isLast
  // The server has applied the other filters.
  const condition = { filters: filters.filter(({ field }) => field === idField), alternatives }
  const matching = found.filter((document) => fulfills(document, condition))
  const ordered = isReversed ? matching.toReversed() : matching
  if (!needsAll(parts)) return ordered
  const own: Order[] = orders.length > 0 ? orders : [{ field: idField, direction: 'asc' }]
  const within = cursors.reduce((all, cursor) => cut(all, cursor, own), ordered)
  return isLast ? within.slice(-(limit ?? within.length)) : within.slice(0, limit)
}

interface DocumentChange {
  type: 'added' | 'modified' | 'removed'
  doc: DocumentSnapshot
  oldIndex: number
  newIndex: number
}

export class QuerySnapshot {
  readonly metadata = metadata
  readonly docs: DocumentSnapshot[]
  readonly size: number
  readonly empty: boolean

  constructor(
    readonly query: Query,
    found: StoredQuery,
    /** The documents of the snapshot before, in order. */
    private readonly before: DocumentSnapshot[] = [],
  ) {
    const refOf = (id: string) => new DocumentReference(`${query.path}/${id}`)
    const all = found.docs.map((stored) => new DocumentSnapshot(refOf(stored.id), stored))
    this.docs = chosen(query, all)
    this.size = this.docs.length
    this.empty = this.size === 0
  }

  forEach(view: (document: DocumentSnapshot) => void): void {
    for (const one of this.docs) view(one)
  }

  docChanges(): DocumentChange[] {
    const indexIn = (all: DocumentSnapshot[], { id }: DocumentSnapshot): number =>
      all.findIndex((one) => one.id === id)
    const removed = this.before.flatMap((doc, oldIndex): DocumentChange[] =>
      indexIn(this.docs, doc) < 0 ? [{ type: 'removed', doc, oldIndex, newIndex: -1 }] : [],
    )
    const others = this.docs.flatMap((doc, newIndex): DocumentChange[] => {
      const oldIndex = indexIn(this.before, doc)
      if (this.before[oldIndex]?.isSame(doc) === true) return []
      return [{ type: oldIndex < 0 ? 'added' : 'modified', doc, oldIndex, newIndex }]
    })
    return [...removed, ...others]
  }
}

export const getDocs = (query: Query): Promise<QuerySnapshot> =>
  run(
    compile(query)
      .get()
      .then((found) => new QuerySnapshot(query, found)),
  )

type Next<Value> = (value: Value) => void
interface Observer<Value> {
  next?: Next<Value>
  error?: (error: Error) => void
}

const isObserver = <Value>(given: unknown): given is Observer<Value> =>
  typeof given === 'object' && given !== null && ('next' in given || 'error' in given)

/** Calls a listener now and after each change. Options may be before it. */
export function onSnapshot<Value extends DocumentSnapshot & QuerySnapshot>(
  target: DocumentReference | Query,
  ...given: [unknown, ...unknown[]]
): () => void {
  const rest = typeof given[0] === 'function' || isObserver(given[0]) ? given : given.slice(1)
  const [first, failed] = rest
  const observer = isObserver<Value>(first) ? first : undefined
  const next = (value: unknown): void => {
    const listener: unknown = observer ? observer.next?.bind(observer) : first
    if (typeof listener === 'function') listener(value)
  }
  const listener: unknown = observer ? observer.error?.bind(observer) : failed
  const onError =
    typeof listener === 'function'
      ? (error: Error): void => listener(firebaseError(error))
      : undefined
  if (target instanceof DocumentReference) {
    return db
      .doc(storedPath(target.path))
      .onSnapshot((stored) => next(new DocumentSnapshot(target, stored)), onError)
  }
  let before: DocumentSnapshot[] = []
  return compile(target).onSnapshot((found) => {
    const snapshot = new QuerySnapshot(target, found, before)
    before = snapshot.docs
    next(snapshot)
  }, onError)
}

/** A value of all documents of a query. */
type Aggregate = (documents: DocumentSnapshot[]) => number | null

/** Returns the numbers that documents have in a field. */
const numbersOf = (documents: DocumentSnapshot[], field: string | FieldPath): number[] =>
  documents.map((one) => one.get(field)).filter((value) => typeof value === 'number')

const total = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

export const count = (): Aggregate => (documents) => documents.length
export const sum =
  (field: string | FieldPath): Aggregate =>
  (documents) =>
    total(numbersOf(documents, field))
export const average =
  (field: string | FieldPath): Aggregate =>
  (documents) => {
    const numbers = numbersOf(documents, field)
    return numbers.length === 0 ? null : total(numbers) / numbers.length
  }

export async function getAggregateFromServer(query: Query, spec: Record<string, Aggregate>) {
  const { docs } = await getDocs(query)
  const found = Object.entries(spec).map(([name, read]) => [name, read(docs)])
  const data = Object.fromEntries(found)
  return { data: () => data, query }
}

export const getCountFromServer = (query: Query) =>
  getAggregateFromServer(query, { count: count() })

export { run }
