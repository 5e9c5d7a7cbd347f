import { ApiError } from '../errors.ts'
import { decodePath } from '../url-path.ts'

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
