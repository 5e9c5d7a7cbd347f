/** Jobs that run at once in this process, by queue. */
export const queueConcurrency = {
  builds: 4,
  assets: 4,
  media: 32,
  hooks: 32,
  covers: 1,
  batches: 4,
}
/**
 * Running jobs of one owner: at most half, and fewer webhooks, whose receivers may hang. A network
 * has at most half too (see `Turns`).
 */
export const queueConcurrencyPerOwner = {
  builds: 2,
  assets: 2,
  media: 16,
  hooks: 2,
  covers: 1,
  batches: 1,
}
