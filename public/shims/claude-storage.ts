/**
 * `window.storage` of artifacts in Claude's chats, over `service.store`. Source: the help page
 * "Persistent storage for artifacts" of Anthropic, as of November 2026.
 */
import { failure, store } from './bridge-calls.ts'

const keyCharsMax = 200
const valueCharsMax = 5_242_880

function checkKey(key: string): void {
  const isKey = key.length > 0 && key.length < keyCharsMax && !/[\s/\\'"]/.test(key)
  if (isKey) return
  throw failure(
    'bad_request',
    `A key has fewer than ${keyCharsMax} characters, without spaces, slashes and quotes.`,
  )
}

const storage = Object.freeze({
  /** Throws for a key without a value. */
  async get(key: string, shared = false) {
    checkKey(key)
    const value = await store.get(key, { shared })
    if (value === null) throw failure('not_found', `There is no value under "${key}".`)
    return { key, value, shared }
  },
  async set(key: string, value: unknown, shared = false) {
    checkKey(key)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text.length > valueCharsMax) throw failure('too_large', 'A value has at most 5 MB.')
    await store.set(key, text, { shared })
    return { key, value: text, shared }
  },
  async delete(key: string, shared = false) {
    checkKey(key)
    return { key, deleted: await store.delete(key, { shared }), shared }
  },
  async list(prefix = '', shared = false) {
    return { keys: await store.list(prefix, { shared }), prefix, shared }
  },
})

Object.defineProperty(window, 'storage', { value: storage, writable: true, configurable: true })
