/**
 * `claude.use('assets')` of pages in Claude Code, over `service.files`. Source: the tool
 * descriptions of Claude Code for such pages, as of November 2026.
 */
import { field } from '../frame/messages.ts'
import { extend, files } from './bridge-calls.ts'

const assets = Object.freeze({
  /** Stores a blob or a text. Returns its address for all players. */
  upload: (content: Blob | BufferSource | string, options?: { type?: string }) =>
    files.upload(
      content instanceof Blob ? content : new Blob([content], { type: options?.type ?? '' }),
    ),
})

const use: unknown = field(Reflect.get(window, 'claude'), 'use')
extend('claude', {
  use: async (name: string): Promise<unknown> => {
    if (name === 'assets') return assets
    return typeof use === 'function' ? use(name) : null
  },
})
