/**
 * The namespace `assets` of `claude.use`, over `service.files`. Pages store the id of a file, and
 * show it at `/_blob/<id>`, which the frame of the app resolves. Source: the type definitions that
 * Claude serves to pages (November 2026).
 */
import { field } from '../frame/messages.ts'
import { extend, failure, files } from './bridge-calls.ts'
import { type Codes, withCodes } from './claude-error.ts'

const codes: Codes = {
  asset_too_large: 'too_large',
  bad_asset: 'unsupported_type',
  bad_request: 'invalid_request',
  data_full: 'quota_or_state',
  storage_full: 'quota_or_state',
  data_limit: 'rate_limited',
}
const run = withCodes(codes)

const assets = Object.freeze({
  /** Stores a blob or a text. Returns its id and its address for all players. */
  async upload(content: Blob | BufferSource | string, options?: { type?: string }) {
    const blob =
      content instanceof Blob ? content : new Blob([content], { type: options?.type ?? '' })
    const { url, type: contentType, bytes: sizeBytes } = await run(files.upload(blob))
    return { id: url.slice(url.lastIndexOf('/') + 1), url, sizeBytes, contentType }
  },
  list: async (): Promise<never> => {
    throw failure('capability_removed', 'The files of the app cannot be listed here.')
  },
  delete: async (): Promise<never> => {
    throw failure('capability_removed', 'The maker of the app deletes its files.')
  },
})

const opened = Promise.resolve(assets)
const use: unknown = field(Reflect.get(window, 'claude'), 'use')
extend('claude', {
  assets,
  use: (name: string): Promise<unknown> => {
    if (name === 'assets') return opened
    return typeof use === 'function' ? use(name) : Promise.resolve(null)
  },
})
