/** Jobs that run at once in this process, by queue. */
export const queueConcurrency = {
  builds: 4,
  assets: 4,
  media: 32,
  hooks: 32,
  covers: 1,
  batches: 4,
}
/** Running jobs of one owner, so that webhooks to a hanging receiver do not block others. */
export const queueConcurrencyPerOwner = { ...queueConcurrency, hooks: 2, batches: 1 }
