/** A page that was not published yet. */
export interface Draft {
  file?: File
  text: string
  /** Is true after the form was sent; the draft stays only if that failed. */
  isSubmitted: boolean
}

const name = 'draft'

const settle = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((done, fail) => {
    request.addEventListener('success', () => done(request.result))
    request.addEventListener('error', () => fail(request.error))
  })

async function openStore(): Promise<IDBDatabase> {
  const request = indexedDB.open('berth-drafts', 1)
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(name))
  return settle(request)
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && 'text' in value && 'isSubmitted' in value

/** Opens the draft of this browser. Without storage, there is none. */
export function openDrafts() {
  const opened = openStore().catch(() => undefined)
  const run = async (work: (store: IDBObjectStore) => IDBRequest): Promise<unknown> => {
    const db = await opened
    return db && settle(work(db.transaction(name, 'readwrite').objectStore(name)))
  }
  const get = async (): Promise<Draft | undefined> => {
    const value = await run((store) => store.get(name)).catch(() => undefined)
    return isDraft(value) ? value : undefined
  }
  const put = async (draft: Draft): Promise<void> => {
    await run((store) => store.put(draft, name)).catch(() => undefined)
  }
  return {
    get,
    put,
    async submit() {
      const draft = await get()
      if (draft) await put({ ...draft, isSubmitted: true })
    },
    async clear() {
      await run((store) => store.delete(name)).catch(() => undefined)
    },
  }
}
