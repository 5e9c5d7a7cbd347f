import type { Clock } from './time.ts'

/** The only printer of the server. A line is JSON on stderr, because stdout is for results. */
export interface Log {
  info(event: string, facts?: Record<string, unknown>): void
  warn(event: string, facts?: Record<string, unknown>): void
  /** Logs an unexpected error with its stack. Keys and bodies are never logged. */
  error(event: string, error: unknown, facts?: Record<string, unknown>): void
}

/** The time that lines wait to be written together, in milliseconds. Warnings do not wait. */
const waitMs = 20
const waitingCharsMax = 65_536
let waiting = ''
let hasErrorListener = false

function flush(): void {
  if (waiting === '') return
  // Stderr may fail, for example on a full disk or a closed pipe. That must not end the server.
  if (!hasErrorListener) process.stderr.on('error', () => {})
  hasErrorListener = true
  process.stderr.write(waiting)
  waiting = ''
}

function toStderr(line: string, isUrgent: boolean): void {
  if (waiting === '') setTimeout(flush, waitMs).unref()
  waiting += `${line}\n`
  if (isUrgent || waiting.length > waitingCharsMax) flush()
}

process.on('exit', flush)

/**
 * Returns the stack of an error. The message of a failed query ends with its parameters, which may
 * be a body, so a query is logged without them.
 */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'query' in error && 'params' in error
    ? `${String(error.query)}\n${stackOf(error.cause)}`
    : (error.stack ?? error.message)
}

/** Returns a log that passes each line to `write`, by default to stderr. */
export function openLog(
  clock: Clock,
  write: (line: string, isUrgent: boolean) => void = toStderr,
): Log {
  let ms = Number.NaN
  let at = ''
  const log = (level: string, event: string, facts?: Record<string, unknown>): void => {
    const now = clock.now()
    if (now !== ms) at = new Date(now).toISOString()
    ms = now
    write(JSON.stringify({ at, level, event, ...facts }), level !== 'info')
  }
  return {
    info: (event, facts) => log('info', event, facts),
    warn: (event, facts) => log('warn', event, facts),
    error: (event, error, facts) => log('error', event, { ...facts, error: stackOf(error) }),
  }
}
