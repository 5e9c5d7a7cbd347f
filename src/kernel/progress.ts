import { AsyncLocalStorage } from 'node:async_hooks'

/** Receives how much of a step of long work is done, from 0 to 1. */
export type ProgressReport = (step: string, done: number) => void

const current = new AsyncLocalStorage<ProgressReport>()

/** Runs work whose progress someone watches. All that it awaits and starts reports to them. */
export const withProgress = <Result>(report: ProgressReport, work: () => Result): Result =>
  current.run(report, work)

/** The report of the running work; undefined where it has no watcher. */
export const currentProgress = (): ProgressReport | undefined => current.getStore()

/** Passes bytes on, and reports each percent of their total. */
export function countBytes(
  total: number,
  report: (done: number) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  let percent = -1
  return new TransformStream({
    transform(piece, to) {
      bytes += piece.length
      const done = total > 0 ? Math.min(1, bytes / total) : 1
      if (Math.floor(done * 100) > percent) report(done)
      percent = Math.floor(done * 100)
      to.enqueue(piece)
    },
  })
}
