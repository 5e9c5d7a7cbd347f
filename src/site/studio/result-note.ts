import { cookieName, readCookie } from '../../people/session-user.ts'
import { type PageRequest, secureAttribute } from '../session.ts'

const name = 'berth_result'
/** Browsers drop cookies above 4,096 bytes. */
const bytesMax = 2_000
const seconds = 60

/**
 * Returns the cookie that carries the note of an action over the redirect to the app's page, so
 * that a reload of the page does not send the form again.
 */
export function noteCookie({ ctx }: PageRequest, id: string, note: string): string {
  const value = Buffer.from(note).subarray(0, bytesMax).toString('base64url')
  return cookieOf(ctx, `${id}.${value}`, seconds)
}

/** Returns the note that an action left for an app, and the cookie that ends it. */
export function readNote(
  { ctx, request }: PageRequest,
  id: string,
): { note: string; cookie: string } | undefined {
  const value = readCookie(ctx, request, name, `${id}\\.[\\w-]{1,3000}`)
  if (value === undefined) return undefined
  const note = Buffer.from(value.slice(id.length + 1), 'base64url').toString()
  return { note, cookie: cookieOf(ctx, '', 0) }
}

const cookieOf = (ctx: PageRequest['ctx'], value: string, age: number): string =>
  `${cookieName(ctx, name)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secureAttribute(ctx)}`
