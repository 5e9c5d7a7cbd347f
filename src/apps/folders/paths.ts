import { pathFolderCharsMax, pathPartCharsMax } from './limits.ts'

/** Characters that Agent Skills Discovery 0.2.0 allows in paths, and that file systems share. */
const allowed = /^[\x20-\x7e]+$/
const forbidden = /[\\?#[\]:*"<>|]/

/**
 * Returns why a path may lead out of its folder, on any system and however it is decoded; undefined
 * for a safe one.
 */
export function unsafePathProblem(path: string): string | undefined {
  if (/[\\\p{Cc}\p{Cs}]/u.test(path)) return 'remove backslashes and control characters'
  if (/^(?:\/|[a-z]:)/i.test(path)) return 'use a path relative to the folder, not an absolute path'
  if (/%(?:2e|2f|5c|00)/i.test(path)) return 'remove percent-encoded dots, slashes and NUL bytes'
  const parts = path.split('/')
  if (parts.includes('..') || parts.includes('.')) {
    return 'use a path relative to the folder, without "." and ".."'
  }
  return parts.includes('') ? 'name a file, without empty parts' : undefined
}

/** Returns the form of a path in which file systems compare names. */
export const pathKey = (path: string): string => path.normalize('NFC').toLowerCase()

/** Describes when two paths are one to a file system. */
export const inOtherForms = 'without regard to letter case and to forms of Unicode'

/** Returns why a path of a pack is invalid; undefined for a valid one. */
export function pathProblem(path: string): string | undefined {
  if (!allowed.test(path)) return 'use printable ASCII characters only'
  if (forbidden.test(path)) return 'remove the characters \\ ? # [ ] : * " < > |'
  const unsafe = unsafePathProblem(path)
  if (unsafe !== undefined) return unsafe
  const parts = path.split('/')
  if (parts.some((part) => part.startsWith('.'))) return 'remove hidden files and folders'
  if (parts.some((part) => /^\s|[\s.]$/.test(part))) {
    return 'a part must not start with a space, or end with a space or a dot'
  }
  if (parts.some((part) => part.length > pathPartCharsMax)) {
    return `use at most ${pathPartCharsMax} characters in each part`
  }
  if (parts.slice(0, -1).join('/').length > pathFolderCharsMax) {
    return `use at most ${pathFolderCharsMax} characters in the folder`
  }
  return undefined
}
