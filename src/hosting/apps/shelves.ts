/** The shelves of Explore, a closed list, each with the glyph an app without an icon wears. */
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

export const shelfNames = Object.keys(shelves).filter((name): name is Shelf => name in shelves)
