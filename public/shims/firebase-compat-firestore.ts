/**
 * `firebase.firestore()`: references and queries with methods, over the functions of the modules.
 * `exists` of a snapshot is a property. Source:
 * https://firebase.google.com/docs/reference/js/v8/firebase.firestore (November 2026).
 */
import { firebaseKey } from '../../src/apps/libraries/firebase-exports.ts'
import { field } from '../frame/messages.ts'
import type {
  CollectionReference,
  Constraint,
  DocumentReference,
  Query,
} from './firebase-references.ts'
import type { DocumentSnapshot, QuerySnapshot } from './firebase-snapshots.ts'
import type { FirebaseModules } from './firebase.ts'

const { firestore: fs }: FirebaseModules = Reflect.get(window, Symbol.for(firebaseKey))
const database = fs.getFirestore()

type Transaction = Parameters<Parameters<typeof fs.runTransaction>[1]>[0]
type Batch = ReturnType<typeof fs.writeBatch>
interface SetOptions {
  merge?: boolean
  mergeFields?: string[]
}

/** Wraps the listener of a subscription. Options may be before it. */
function listen(
  target: DocumentReference | Query,
  given: unknown[],
  wrap: (found: DocumentSnapshot & QuerySnapshot) => unknown,
): () => void {
  const isListener = (one: unknown): boolean =>
    typeof one === 'function' || field(one, 'next') !== undefined
  const at = given.findIndex(isListener)
  const [first, failed] = given.slice(at)
  const next: unknown = typeof first === 'function' ? first : field(first, 'next')
  const onError: unknown = typeof first === 'function' ? failed : field(first, 'error')
  return fs.onSnapshot(
    target,
    (found: DocumentSnapshot & QuerySnapshot) => {
      if (typeof next === 'function') next.call(first, wrap(found))
    },
    typeof onError === 'function' ? onError : undefined,
  )
}

class CompatDocument {
  readonly type = 'document'
  readonly id: string
  readonly path: string

  constructor(readonly own: DocumentReference) {
    this.id = own.id
    this.path = own.path
  }

  get firestore() {
    return compatFirestore
  }
  get parent(): CompatCollection {
    return new CompatCollection(this.own.parent)
  }
  collection(name: string): CompatCollection {
    return new CompatCollection(fs.collection(this.own, name))
  }
  async get(_options?: object) {
    return openSnapshot(await fs.getDoc(this.own))
  }
  set(data: object, options?: SetOptions): Promise<void> {
    return fs.setDoc(this.own, data, options)
  }
  update(...given: unknown[]): Promise<void> {
    return fs.updateDoc(this.own, ...given)
  }
  delete(): Promise<void> {
    return fs.deleteDoc(this.own)
  }
  onSnapshot(...given: unknown[]): () => void {
    return listen(this.own, given, openSnapshot)
  }
  isEqual(other: CompatDocument): boolean {
    return other.path === this.path
  }
}

/** The snapshot of the modules that one with the older interface is of. */
const owners = new WeakMap<object, DocumentSnapshot>()

function openSnapshot(snapshot: DocumentSnapshot) {
  const opened = {
    id: snapshot.id,
    ref: new CompatDocument(snapshot.ref),
    exists: snapshot.exists(),
    metadata: snapshot.metadata,
    data: () => snapshot.data(),
    get: (name: string) => snapshot.get(name),
  }
  owners.set(opened, snapshot)
  return opened
}

function openFound(query: CompatQuery, found: QuerySnapshot) {
  const docs = found.docs.map(openSnapshot)
  return {
    docs,
    query,
    size: found.size,
    empty: found.empty,
    metadata: found.metadata,
    forEach: (view: (document: (typeof docs)[number]) => void) => docs.forEach(view),
    docChanges: () =>
      found.docChanges().map((change) => ({ ...change, doc: openSnapshot(change.doc) })),
  }
}

/** Returns the values of a cursor: those of fields, or a snapshot. */
const cursorOf = (values: unknown[]): unknown[] =>
  values.map((value) => owners.get(Object(value)) ?? value)

class CompatQuery {
  constructor(readonly query: Query) {}

  get firestore() {
    return compatFirestore
  }
  #with(constraint: Constraint): CompatQuery {
    return new CompatQuery(fs.query(this.query, constraint))
  }
  where(...given: Parameters<typeof fs.where>): CompatQuery {
    return this.#with(fs.where(...given))
  }
  orderBy(...given: Parameters<typeof fs.orderBy>): CompatQuery {
    return this.#with(fs.orderBy(...given))
  }
  limit(count: number): CompatQuery {
    return this.#with(fs.limit(count))
  }
  limitToLast(count: number): CompatQuery {
    return this.#with(fs.limitToLast(count))
  }
  startAt(...values: unknown[]): CompatQuery {
    return this.#with(fs.startAt(...cursorOf(values)))
  }
  startAfter(...values: unknown[]): CompatQuery {
    return this.#with(fs.startAfter(...cursorOf(values)))
  }
  endAt(...values: unknown[]): CompatQuery {
    return this.#with(fs.endAt(...cursorOf(values)))
  }
  endBefore(...values: unknown[]): CompatQuery {
    return this.#with(fs.endBefore(...cursorOf(values)))
  }
  async get(_options?: object) {
    return openFound(this, await fs.getDocs(this.query))
  }
  onSnapshot(...given: unknown[]): () => void {
    return listen(this.query, given, (found) => openFound(this, found))
  }
}

class CompatCollection extends CompatQuery {
  readonly id: string
  readonly path: string

  constructor(readonly own: CollectionReference) {
    super(own)
    this.id = own.id
    this.path = own.path
  }

  get parent(): CompatDocument | null {
    const { parent } = this.own
    return parent && new CompatDocument(parent)
  }
  doc(...names: string[]): CompatDocument {
    return new CompatDocument(fs.doc(this.own, ...names))
  }
  async add(data: object): Promise<CompatDocument> {
    return new CompatDocument(await fs.addDoc(this.own, data))
  }
}

/** Writes of a batch or a transaction. Each returns the same object, so that they chain. */
class CompatWrites<Own extends Batch> {
  constructor(readonly own: Own) {}

  set({ own }: CompatDocument, data: object, options?: SetOptions): this {
    this.own.set(own, data, options)
    return this
  }
  update({ own }: CompatDocument, ...given: unknown[]): this {
    this.own.update(own, ...given)
    return this
  }
  delete({ own }: CompatDocument): this {
    this.own.delete(own)
    return this
  }
  commit(): Promise<void> {
    return this.own.commit()
  }
}

class CompatTransaction extends CompatWrites<Transaction> {
  async get({ own }: CompatDocument) {
    return openSnapshot(await this.own.get(own))
  }
}

export const compatFirestore = {
  collection: (path: string) => new CompatCollection(fs.collection(database, path)),
  doc: (path: string) => new CompatDocument(fs.doc(database, path)),
  collectionGroup: fs.collectionGroup,
  batch: () => new CompatWrites(fs.writeBatch()),
  runTransaction: <Result>(update: (transaction: CompatTransaction) => Promise<Result>) =>
    fs.runTransaction(database, (own) => update(new CompatTransaction(own))),
  settings: (): void => undefined,
  useEmulator: (): void => undefined,
  enablePersistence: fs.enableIndexedDbPersistence,
  clearPersistence: fs.clearIndexedDbPersistence,
  enableNetwork: fs.enableNetwork,
  disableNetwork: fs.disableNetwork,
  terminate: fs.terminate,
  waitForPendingWrites: fs.waitForPendingWrites,
}
