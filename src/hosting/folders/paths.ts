import { pathFolderCharsMax, pathPartCharsMax } from './limits.ts'

/** Characters that Agent Skills Discovery 0.2.0 allows in paths, and that file systems share. */
const allowed = /^[\x20-\x7e]+$/
const forbidden = /[\\?#[\]:*"<>|]/

/** Returns why a path of a pack is invalid; undefined for a valid one. */
export function pathProblem(path: string): string | undefined {
  if (!allowed.test(path)) return 'use printable ASCII characters only'
  if (forbidden.test(path)) return 'remove the characters \\ ? # [ ] : * " < > |'
  const parts = path.split('/')
  if (path.startsWith('/') || parts.includes('..') || parts.includes('.')) {
    return 'use a path relative to the folder, without "." and ".."'
  }
  if (parts.includes('')) return 'name a file, without empty parts'
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
