/** The one place that prints. A line is JSON on stderr, so that stdout stays for answers. */
export interface Log {
  info(event: string, facts?: Record<string, unknown>): void
  warn(event: string, facts?: Record<string, unknown>): void
  /** A fault of ours. `error` is printed with its stack; no key and no body ever is. */
  fault(event: string, error: unknown, facts?: Record<string, unknown>): void
}

const toStderr = (line: string): void => void process.stderr.write(`${line}\n`)

// A log that cannot be written (its disk is full, its reader has gone) must not end the house.
process.stderr.on('error', () => {})

/** Answers a log that hands each finished line to `write` (stderr unless told otherwise). */
export function openLog(clock: { now(): number }, write: (line: string) => void = toStderr): Log {
  const line = (level: string, event: string, facts: Record<string, unknown> = {}): void =>
    write(JSON.stringify({ at: new Date(clock.now()).toISOString(), level, event, ...facts }))
  return {
    info: (event, facts) => line('info', event, facts),
    warn: (event, facts) => line('warn', event, facts),
    fault: (event, error, facts) =>
      line('fault', event, {
        ...facts,
        error: error instanceof Error ? error.stack : String(error),
      }),
  }
}
