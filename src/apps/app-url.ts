import type { AppContext } from '../kernel/context.ts'
import { collectionOf, isPackKind, type Kind } from './kinds.ts'

type Urls = Pick<AppContext, 'urls'>

/** Returns the public link of an app (document 1, section 2). */
export const appUrl = ({ urls }: Urls, id: string): string => `${urls.app}/a/${id}`

/** Returns the public link of an item. That of a pack plus ".tar.gz" is its folder. */
export const itemUrl = (ctx: Urls, { id, kind }: { id: string; kind: Kind }): string =>
  isPackKind(kind) ? `${ctx.urls.app}/${collectionOf(kind)}/${id}` : appUrl(ctx, id)

/** Returns the public URL of a path of the Agent API inside the server: "/api/apps". */
export const agentApiUrl = ({ urls }: Urls, path: string): string =>
  urls.base + path.slice('/api'.length)
