import { field } from '../frame/messages.ts'
import type { StoredDocument } from './documents.ts'

/** A change between two results of a query. */
export interface Change {
  type: 'added' | 'modified' | 'removed'
  stored: StoredDocument
}

type Placed = [at: number, stored: StoredDocument]

const isPlaced = (value: unknown): value is Placed =>
  Array.isArray(value) && typeof value[0] === 'number' && typeof field(value[1], 'id') === 'string'

const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** The documents of a query, as the events of the server change them. */
export class WatchedDocuments {
  rows: StoredDocument[] = []
  #isNew = true

  /**
   * Applies an event. Returns the changes; undefined where nothing changed, and `lost` where
   * documents are missing, so that all are needed again.
   */
  apply(event: unknown): Change[] | undefined | 'lost' {
    const docs = field(event, 'docs')
    const changed = (Array.isArray(docs) ? docs : []).filter(isPlaced)
    const before = new Map(this.rows.map((row) => [row.id, row]))
    const next = this.#next(event, changed, before)
    if (!next) return 'lost'
    this.rows = next
    const now = new Set(next.map(({ id }) => id))
    const removed = [...before.values()].filter(({ id }) => !now.has(id))
    const changes: Change[] = [
      ...removed.map((stored) => ({ type: 'removed' as const, stored })),
      ...changed
        .filter(([, { id, version }]) => before.get(id)?.version !== version)
        .map(([, stored]) => ({
          type: before.has(stored.id) ? ('modified' as const) : ('added' as const),
          stored,
        })),
    ]
    const isFirst = this.#isNew
    this.#isNew = false
    return isFirst || changes.length > 0 ? changes : undefined
  }

  #next(
    event: unknown,
    changed: Placed[],
    before: Map<string, StoredDocument>,
  ): StoredDocument[] | undefined {
    if (field(event, 'full') === true) return changed.map(([, stored]) => stored)
    const news = new Map(changed.map(([, stored]) => [stored.id, stored]))
    const ids = field(event, 'ids')
    if (Array.isArray(ids)) {
      const rows = textsIn(ids).map((id) => news.get(id) ?? before.get(id))
      return rows.every((row) => row !== undefined) ? rows : undefined
    }
    const gone = new Set([...textsIn(field(event, 'removed')), ...news.keys()])
    const rows = this.rows.filter(({ id }) => !gone.has(id))
    for (const [at, stored] of changed) rows.splice(at, 0, stored)
    return rows
  }
}
