import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { verifyPassword } from '../../people/passwords.ts'
import type { SignInClient } from '../../people/sign-in.ts'
import { type App, findApp } from '../apps.ts'
import { findLink, isLocked, passwordGrant } from './access.ts'
import { grantCookies } from './grants.ts'

const notFound = () => new ApiError('not_found', { what: 'app' })

/** Returns an app that a password opens, before it expires. Throws `not_found` for all others. */
export async function getLockedApp(ctx: AppContext, id: string): Promise<App> {
  const app = await findApp(ctx, id)
  if (app && isLocked(ctx, app)) return app
  throw notFound()
}

/**
 * Returns the cookies of the right password of an app. A network has ten wrong passwords an app
 * and a quarter of an hour. Throws `not_found`, `bad_password`, `sign_in_locked` and `try_again`.
 */
export async function openWithPassword(
  ctx: AppContext,
  id: string,
  password: string,
  { prefix }: Pick<SignInClient, 'prefix'>,
): Promise<string[]> {
  const app = await getLockedApp(ctx, id)
  const { appPasswords } = ctx.state.limits
  const key = `${id} ${prefix}`
  const retryAfter = await appPasswords.take(key)
  if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
  if (!(await verifyPassword(password, app.password))) throw new ApiError('bad_password')
  await appPasswords.giveBack(key)
  return grantCookies(ctx, id, passwordGrant(ctx, app))
}

/** Returns the cookies of a share link. Throws `not_found` for a link that is no more. */
export async function openWithLink(ctx: AppContext, id: string, secret: string): Promise<string[]> {
  const link = /^[A-Za-z0-9]{40}$/.test(secret) ? await findLink(ctx, id, secret) : undefined
  if (!link) throw notFound()
  return grantCookies(ctx, id, secret)
}
