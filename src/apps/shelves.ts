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
