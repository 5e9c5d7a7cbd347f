import { ApiError } from '../errors.ts'

/** Throws `not_found` for a path segment that is not UTF-8. Elysia decodes it as null. */
export function checkPath(params: Record<string, unknown> | undefined): void {
  if (!params || !Object.values(params).includes(null)) return
  throw new ApiError('not_found', { what: 'address' })
}
