import { ApiError } from '../errors.ts'

/** Encodes a path for a URL: every character of its parts but not the slashes between them. */
export const encodePath = (path: string): string =>
  path.toWellFormed().split('/').map(encodeURIComponent).join('/')

/** Decodes a path of a URL once. Returns null for malformed escapes, as the router does. */
export function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

type Params = Record<string, unknown> | undefined

/**
 * Decodes the rest of a path. The router decodes named parameters once, to null where an escape is
 * malformed, and leaves a wildcard as the client sent it.
 */
export function decodeWildcard(params: Params): void {
  const rest = params?.['*']
  if (params && typeof rest === 'string') params['*'] = decodePath(rest)
}

/** Throws `not_found` for a parameter that is malformed. */
export function checkPath(params: Params): void {
  if (!params || !Object.values(params).includes(null)) return
  throw new ApiError('not_found', { what: 'address' })
}
