/** Where a text is asked for rather than kept; the last ones in turns. */
export function askedFor(text: string, turn: number): string[] {
  const q = encodeURIComponent(text)
  const odd = [
    `/${q}`,
    `/explore/${q}`,
    `/explore?maker=${q}`,
    `/explore?cursor=${q}`,
    `/claim/${q}`,
    `/catalogue?q=${q}`,
    `/sign-in?next=${q}`,
    `/oembed?url=${q}`,
    `/a/${q}`,
    `/api/explore/feed.atom?q=${q}`,
    `/api/explore/feed.json?q=${q}`,
  ]
  return [`/explore?q=${q}`, odd[turn % odd.length] ?? '/']
}

/** Where an operator looks for a text, in turns. */
export function searchedFor(text: string, turn: number): string {
  const lists = ['agents?q', 'people?q', 'audit?q', 'models?q', 'grants?usd=1&to', 'queue?sha256']
  return `/console/${lists[turn % lists.length]}=${encodeURIComponent(text)}`
}

/** The pages of who owns this agent. */
export const ownPaths = (handle: string): string[] => [
  '/agents',
  ...['', '/apps', '/ledger'].map((list) => `/agents/${handle}${list}`),
]

/** The pages of an app in the studio. */
export const studioPaths = (id: string): string[] =>
  ['', '/versions', '/changes', '/assets', '/listing', '/safety'].map(
    (tab) => `/studio/${id}${tab}`,
  )

/** The pages of the operator. */
export const consolePaths = [
  '',
  '/agents',
  '/people',
  '/models',
  '/grants',
  '/upstreams',
  '/settings',
].map((name) => `/console${name}`)
