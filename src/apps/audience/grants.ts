import type { AppContext } from '../../kernel/context.ts'
import { day } from '../../kernel/time.ts'
import { secureAttribute } from '../../people/session-user.ts'

const grantMs = 30 * day

const nameOf = (app: string): string => `berth_open_${app}`

/** Paths of an app, to which browsers send its cookie: its link, its operations, its reports. */
const pathsOf = (app: string): string[] => [`/a/${app}`, `/api/apps/${app}`, `/report/${app}`]

/** Returns what a browser keeps for an app; undefined without a grant. */
export function readGrant(headers: Headers, app: string): string | undefined {
  const cookie = new RegExp(`(?:^|; ?)${nameOf(app)}=([\\w-]{40})(?:;|$)`)
  return cookie.exec(headers.get('cookie') ?? '')?.[1]
}

/** Returns the cookies of a grant, which browsers send for this app alone. */
export const grantCookies = (ctx: AppContext, app: string, grant: string): string[] =>
  pathsOf(app).map(
    (path) =>
      `${nameOf(app)}=${grant}; Path=${path}; HttpOnly; SameSite=Lax` +
      `${secureAttribute(ctx)}; Max-Age=${grantMs / 1_000}`,
  )
