/** The keys of files of `puter.fs` in `service.store`, beside the values of `puter.kv`. */
export const filePrefix = 'puter.fs:'
export const fileKey = (path: string): string => filePrefix + path

/** The folder of the player. */
export const home = '/player'
