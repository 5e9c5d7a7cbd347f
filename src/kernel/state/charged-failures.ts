import { Cache } from '../cache.ts'
import type { Signals } from '../db/signals.ts'
import { ApiError, type GatewayErrorName } from '../errors.ts'
import { failureReplayMs, failureReplaysMax } from '../limits.ts'
import { isRecord } from '../schema.ts'
import type { Clock } from '../time.ts'

type ChargedError = ApiError<GatewayErrorName>

/**
 * Failures that were charged, by key and request. The same call within a minute gets the same error
 * and is not charged again (docs/spec/gateway-decisions.md, "Responses"). Other processes learn of
 * them before the client does.
 */
export class ChargedFailures {
  private readonly errors: Cache<ChargedError>

  constructor(
    clock: Clock,
    private readonly signals?: Pick<Signals, 'on' | 'send'>,
  ) {
    this.errors = new Cache(failureReplaysMax, { clock, ms: failureReplayMs })
    signals?.on('failures', (text) => this.receive(text))
  }

  get size(): number {
    return this.errors.size
  }

  get(key: string): ChargedError | undefined {
    return this.errors.get(key)
  }

  async add(key: string, error: ChargedError): Promise<void> {
    this.errors.set(key, error)
    await this.signals?.send(
      'failures',
      JSON.stringify([key, error.errorName, [...error.details][0]]),
    )
  }

  private receive(text: string | undefined): void {
    if (text === undefined) return
    const [key, name, details]: [string, GatewayErrorName, unknown] = JSON.parse(text)
    this.errors.set(key, restoreError(name, details))
  }
}

/** Creates an error as another process had it. Errors of failed work have details of JSON. */
function restoreError(name: GatewayErrorName, details: unknown): ChargedError {
  const args = isRecord(details) ? [details] : []
  return Reflect.construct(ApiError, [name, ...args])
}
