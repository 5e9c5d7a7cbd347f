const { dataset } = document.documentElement

/** Records that the app got data that may be its player's, such as saves or a reply. */
export function markServed(): void {
  dataset['served'] = ''
}

/** Returns whether the app has got data that may be its player's. */
export const isServed = (): boolean => 'served' in dataset
