import type { Clock } from './time.ts'

/** The one place that prints. A line is JSON on stderr, so that stdout stays for answers. */
export interface Log {
  info(event: string, facts?: Record<string, unknown>): void
  warn(event: string, facts?: Record<string, unknown>): void
  /** A fault of ours. `error` is printed with its stack; no key and no body ever is. */
  fault(event: string, error: unknown, facts?: Record<string, unknown>): void
}

/** Lines wait this long, so that a busy house writes many at once; a fault takes all with it. */
const waitMs = 20
const waitingCharsMax = 65_536
let waiting = ''

let isHeard = false

function flush(): void {
  if (waiting === '') return
  // A log that cannot be written (its disk is full, its reader has gone) must not end the house.
  if (!isHeard) process.stderr.on('error', () => {})
  isHeard = true
  process.stderr.write(waiting)
  waiting = ''
}

function toStderr(line: string, now: boolean): void {
  if (waiting === '') setTimeout(flush, waitMs).unref()
  waiting += `${line}\n`
  if (now || waiting.length > waitingCharsMax) flush()
}

process.on('exit', flush)

/** An error's stack. A query's message ends with what was bound to it, which may be a body. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'query' in error && 'params' in error
    ? `${String(error.query)}\n${told(error.cause)}`
    : (error.stack ?? error.message)
}

/** Answers a log that hands each finished line to `write` (stderr unless told otherwise). */
export function openLog(clock: Clock, write: (line: string, now: boolean) => void = toStderr): Log {
  let ms = Number.NaN
  let at = ''
  const line = (level: string, event: string, facts?: Record<string, unknown>): void => {
    const now = clock.now()
    if (now !== ms) at = new Date(now).toISOString()
    ms = now
    write(JSON.stringify({ at, level, event, ...facts }), level !== 'info')
  }
  return {
    info: (event, facts) => line('info', event, facts),
    warn: (event, facts) => line('warn', event, facts),
    fault: (event, error, facts) => line('fault', event, { ...facts, error: told(error) }),
  }
}
