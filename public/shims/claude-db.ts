/**
 * The namespace `db` of `claude.use` over `service.db`. Its references are made without a call, and
 * `add` returns one. Source: the type definitions that Claude serves to pages (November 2026).
 */
import type {
  DocumentSnapshot as Stored,
  QuerySnapshot as StoredQuery,
} from '../bridge/documents.ts'
import { db } from './bridge-calls.ts'
import { claudeError, type Codes, withCodes } from './claude-error.ts'
import { newId } from './new-id.ts'

type Data = Record<string, unknown>
type OnError = (error: Error) => void

const codes: Codes = {
  bad_request: 'invalid_argument',
  not_found: 'invalid_argument',
  not_own: 'invalid_argument',
  too_large: 'invalid_argument',
  data_full: 'quota_exceeded',
  storage_full: 'quota_exceeded',
  data_limit: 'resource_exhausted',
  guests_limit: 'resource_exhausted',
  too_many_calls: 'resource_exhausted',
  failed: 'unavailable',
  offline: 'unavailable',
}
const run = withCodes(codes)

const metadata = Object.freeze({ fromCache: false, hasPendingWrites: false })
const lease = { ms: 30_000, msMin: 1_000, msMax: 600_000 }

/** Throws a TypeError for a path of the other kind, as the host does before any call. */
function checkPath(path: unknown, isDocument: boolean): string {
  const text = String(path)
  const segments = text.split('/')
  const isEven = segments.length % 2 === 0
  if (isEven === isDocument && !segments.includes('')) return text
  const parity = isDocument ? 'an even' : 'an odd'
  throw new TypeError(`"${text}" has ${segments.length} segments; this path has ${parity} number.`)
}

/** Snapshots of one listener. A document that did not change is the same object again. */
function createSnapshots() {
  const seen = new Map<string, ReturnType<typeof open>>()
  const open = (stored: Stored) => Object.freeze({ ...stored, metadata })
  return (stored: Stored) => {
    const known = seen.get(stored.path)
    if (known?.version === stored.version && known?.exists === stored.exists) return known
    const snapshot = open(stored)
    seen.set(stored.path, snapshot)
    return snapshot
  }
}
type Snapshot = ReturnType<ReturnType<typeof createSnapshots>>

/** `before` are the ids of the snapshot before. */
function openFound(found: StoredQuery, open: (stored: Stored) => Snapshot, before: string[]) {
  const docs = found.docs.map(open)
  const now = docs.map(({ id }) => id)
  return Object.freeze({
    docs,
    size: docs.length,
    empty: docs.length === 0,
    metadata,
    forEach: (view: (document: Snapshot) => void) => docs.forEach(view),
    docChanges: () =>
      found.docChanges().map(({ type, doc }) => ({
        type,
        doc: open(doc),
        oldIndex: before.indexOf(doc.id),
        newIndex: now.indexOf(doc.id),
      })),
  })
}
type QueryView = ReturnType<typeof openFound>

const failing = (onError?: OnError): OnError =>
  onError
    ? (error) => onError(claudeError(error, codes))
    : (error) => reportError(claudeError(error, codes))

function openDocument(given: unknown) {
  const path = checkPath(given, true)
  const own = db.doc(path)
  return Object.freeze({
    id: own.id,
    path,
    collection: (name: string) => openCollection(`${path}/${name}`),
    get: async () => createSnapshots()(await run(own.get())),
    set: async (data: Data): Promise<void> => void (await run(own.set(data))),
    update: async (data: Data): Promise<void> => void (await run(own.update(data))),
    delete: async (): Promise<void> => void (await run(own.delete())),
    /** Takes the document for a time. `expiresAt` is the end of the lease, whoever has it. */
    async acquire(options: { holder: string; ttlMs?: number; data?: Data }) {
      const ttlMs = Math.min(Math.max(options.ttlMs || lease.ms, lease.msMin), lease.msMax)
      const { acquired, until, document } = await run(own.acquire({ ...options, ttlMs }))
      const facts = { acquired, expiresAt: until ?? undefined }
      if (!acquired) return facts
      return { ...facts, version: document.version, holder: options.holder }
    },
    onSnapshot(next: (snapshot: Snapshot) => void, onError?: OnError) {
      const open = createSnapshots()
      return own.onSnapshot((stored) => next(open(stored)), failing(onError))
    },
  })
}

function openQuery(own: ReturnType<ReturnType<typeof db.collection>['limit']>) {
  return Object.freeze({
    where: (field: string, op: string, value: unknown) => openQuery(own.where(field, op, value)),
    orderBy: (field: string, direction?: 'asc' | 'desc') =>
      openQuery(own.orderBy(field, direction)),
    limit: (count: number) => openQuery(own.limit(count)),
    get: async () => openFound(await run(own.get()), createSnapshots(), []),
    onSnapshot(next: (found: QueryView) => void, onError?: OnError) {
      const open = createSnapshots()
      let before: string[] = []
      return own.onSnapshot((stored) => {
        const found = openFound(stored, open, before)
        before = found.docs.map(({ id }) => id)
        next(found)
      }, failing(onError))
    },
  })
}

function openCollection(given: unknown) {
  const path = checkPath(given, false)
  const own = db.collection(path)
  const doc = (id: string = newId()) => openDocument(`${path}/${id}`)
  return Object.freeze({
    ...openQuery(own),
    id: own.id,
    path,
    doc,
    /** Creates a document, and returns its reference. */
    async add(data: Data) {
      const created = doc()
      await created.set(data)
      return created
    },
  })
}

export const claudeDb = Object.freeze({ doc: openDocument, collection: openCollection })
