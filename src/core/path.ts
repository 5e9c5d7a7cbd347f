import { ApiError } from '../errors.ts'

/** Refuses not_found where the framework gives null for a part of the path that is no UTF-8. */
export function checkPath(params: Record<string, unknown> | undefined): void {
  if (!params || !Object.values(params).includes(null)) return
  throw new ApiError('not_found', { what: 'address' })
}
