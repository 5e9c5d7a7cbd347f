import type { RequestContext } from '../kernel/http/request-context.ts'

/** Returns whether a person may be signed in. Cheap, so that most requests need no look-up. */
export const mayBeSignedIn = (
  { headers }: Request,
  { vouchedPerson }: Pick<RequestContext, 'vouchedPerson'>,
): boolean => vouchedPerson !== undefined || (headers.get('cookie')?.includes('berth=') ?? false)
