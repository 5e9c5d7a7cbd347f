import type { AppContext } from '../kernel/context.ts'

/** The kinds of items, as Explore lists them. */
export const kinds = ['app', 'game', 'skill', 'framework'] as const
export type Kind = (typeof kinds)[number]

/** Kinds that are an HTML page. */
export const appKinds = ['app', 'game'] as const
export type AppKind = (typeof appKinds)[number]

/** Kinds that are a folder of instructions. */
export const packKinds = ['skill', 'framework'] as const
export type PackKind = (typeof packKinds)[number]

const isOneOf =
  <Some extends Kind>(some: readonly Some[]) =>
  (kind: Kind): kind is Some =>
    some.some((known) => known === kind)

const isAppKind = isOneOf(appKinds)
export const isPackKind = isOneOf(packKinds)

/** Returns the kind of an app or game. Other items never reach its callers. */
export function requireAppKind({ id, kind }: { id: string; kind: Kind }): AppKind {
  if (isAppKind(kind)) return kind
  throw new Error(`${id} is a ${kind}`)
}

/** Returns the path segment of the operations on items of a kind. */
export const collectionOf = (kind: Kind): 'apps' | `${PackKind}s` =>
  isPackKind(kind) ? `${kind}s` : 'apps'

/**
 * The parties that may open an item: anyone, anyone with the link, those with a password, named
 * people and groups, or all signed-in people of the server.
 */
export const audiences = ['public', 'link', 'password', 'people', 'instance'] as const

export type Audience = (typeof audiences)[number]

/** Shelves of Explore, each with the glyph of apps without an icon. */
export const shelves = {
  arcade: '🕹️',
  puzzle: '🧩',
  adventure: '🗺️',
  sim: '🏙️',
  tools: '🛠️',
  learn: '🎓',
  art: '🎨',
  music: '🎵',
  data: '📊',
  writing: '✍️',
  social: '💬',
  other: '📦',
} as const

export type Shelf = keyof typeof shelves

export const shelfNames = Object.keys(shelves).filter((name): name is Shelf =>
  Object.hasOwn(shelves, name),
)

type Urls = Pick<AppContext, 'urls'>

/** Returns the public link of an app (document 1, section 2). */
export const appUrl = ({ urls }: Urls, id: string): string => `${urls.app}/a/${id}`

/** Returns the public link of an item. That of a pack plus ".tar.gz" is its folder. */
export const itemUrl = (ctx: Urls, { id, kind }: { id: string; kind: Kind }): string =>
  isPackKind(kind) ? `${ctx.urls.app}/${collectionOf(kind)}/${id}` : appUrl(ctx, id)

/** Returns the public URL of a path of the Agent API inside the server: "/api/apps". */
export const agentApiUrl = ({ urls }: Urls, path: string): string =>
  urls.base + path.slice('/api'.length)
