/**
 * `window.fs.readFile` of artifacts in Claude's chats, over the files of the version. Source:
 * public pages of Claude (November 2026).
 */

/** As it was before a page could replace it. */
const { assets } = window.service

const readFile = async (
  path: string,
  options?: string | { encoding?: string },
): Promise<Uint8Array | string> => {
  const bytes = await assets.bytes(path.replace(/^\.?\//, ''))
  if (!bytes) throw new Error(`There is no file ${path}.`)
  const encoding = typeof options === 'string' ? options : options?.encoding
  return encoding === undefined ? new Uint8Array(bytes) : new TextDecoder(encoding).decode(bytes)
}

Object.defineProperty(window, 'fs', { value: { readFile }, writable: true, configurable: true })
