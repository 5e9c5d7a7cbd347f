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
