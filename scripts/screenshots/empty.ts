/** Pages of a server that has just started. */

/** The pages of a visitor by the names of their screenshots. */
export const emptyPages = {
  'empty-home': '/',
  'empty-explore': '/explore',
  'empty-models': '/catalogue',
  'empty-new': '/new',
}

/** The pages of the operator after sign-up. */
export const emptyConsolePages = {
  'empty-console': '/console',
  ...Object.fromEntries(
    ['requests', 'latency', 'errors', 'queue', 'spend', 'keys', 'payments', 'upstreams'].map(
      (name) => [`empty-console-${name}`, `/console/${name}`],
    ),
  ),
  'empty-studio': '/studio',
  'empty-agents': '/agents',
  'empty-wallet': '/wallet',
  'empty-usage': '/wallet/history',
  'empty-collections': '/collections',
  'empty-notifications': '/notifications',
  'empty-following': '/notifications/following',
}
