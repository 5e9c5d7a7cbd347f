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
import { DocumentReference, idField, Query, storedPath } from './firebase-references.ts'
import { decode, encode } from './firebase-values.ts'

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

  data(): Fields | undefined {
    const data = this.stored.data()
    if (data === undefined) return undefined
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, decode(value, open)]),
    )
  }

  get(field: string): unknown {
    return field
      .split('.')
      .reduce<unknown>((value, name) => Reflect.get(Object(value), name), this.data())
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
    query = query.where(field, isInclusive ? `${sign}=` : sign, encode(bound))
  }
  return limit !== undefined && !needsAll(parts) ? query.limit(limit) : query
}

/** Returns whether documents are chosen by their ids here, before the limit. */
const needsAll = ({ filters, orders, cursors, isLast = false }: Query['parts']): boolean =>
  filters.some(({ field }) => field === idField) ||
  orders.some(({ field }) => field === idField) ||
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

/** Returns the documents in their order, chosen by their ids where a query does so. */
function chosen({ parts }: Query, found: Stored[]): Stored[] {
  const { filters, orders, cursors, limit, isLast = false } = parts
  const byId = orders.every(({ field }) => field === idField)
  const isDescending = byId && orders[0]?.direction === 'desc'
  const sign = (isStart: boolean): string => (isStart === !isDescending ? '>' : '<')
  const bounds = byId
    ? cursors.map(({ isStart, isInclusive, values }) => ({
        op: sign(isStart) + (isInclusive ? '=' : ''),
        value: values[0],
      }))
    : []
  const conditions = [...filters.filter(({ field }) => field === idField), ...bounds]
  const matching = found.filter(({ id }) =>
    conditions.every(({ op, value }) => comparisons[op]?.(id, idsIn(value)) ?? false),
  )
  const ordered = isDescending ? matching.toReversed() : matching
  if (!needsAll(parts)) return isLast ? ordered.toReversed() : ordered
  return isLast ? ordered.slice(-(limit ?? ordered.length)) : ordered.slice(0, limit)
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
    private readonly found: StoredQuery,
    /** The ids of the snapshot before, in order. */
    private readonly before: string[] = [],
  ) {
    this.docs = chosen(query, found.docs).map((stored) => this.#open(stored))
    this.size = this.docs.length
    this.empty = this.size === 0
  }

  #open(stored: Stored): DocumentSnapshot {
    return new DocumentSnapshot(new DocumentReference(`${this.query.path}/${stored.id}`), stored)
  }

  forEach(view: (document: DocumentSnapshot) => void): void {
    for (const one of this.docs) view(one)
  }

  docChanges(): DocumentChange[] {
    const now = this.docs.map(({ id }) => id)
    return this.found.docChanges().flatMap(({ type, doc }) => {
      const [oldIndex, newIndex] = [this.before.indexOf(doc.id), now.indexOf(doc.id)]
      return oldIndex < 0 && newIndex < 0
        ? []
        : [{ type, doc: this.#open(doc), oldIndex, newIndex }]
    })
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
  const onError = (error: Error): void => {
    const listener: unknown = observer ? observer.error?.bind(observer) : failed
    if (typeof listener === 'function') listener(firebaseError(error))
    else console.error(firebaseError(error))
  }
  if (target instanceof DocumentReference) {
    return db
      .doc(storedPath(target.path))
      .onSnapshot((stored) => next(new DocumentSnapshot(target, stored)), onError)
  }
  let before: string[] = []
  return compile(target).onSnapshot((found) => {
    const snapshot = new QuerySnapshot(target, found, before)
    before = snapshot.docs.map(({ id }) => id)
    next(snapshot)
  }, onError)
}

export const getCountFromServer = async (query: Query) => {
  const { size } = await getDocs(query)
  return { data: () => ({ count: size }), query }
}

export { run }
