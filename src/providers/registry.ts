import { providers } from '../config/providers.ts'
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { demoUpstream } from './demo/demo.ts'
import { listOllamaModels } from './ollama.ts'
import { createOpenAiAdapter } from './openai-compatible.ts'
import { Speeds } from './speeds.ts'
import { type PollRequest, type Upstream, type UpstreamCall, UpstreamError } from './upstream.ts'

/** The operator's own key was refused, or has no money left. */
const keyStatuses = [401, 402, 403]

/** How an upstream does since the start. Times are milliseconds since 1970. */
export interface UpstreamHealth {
  name: string
  kind: string
  state: CircuitBreaker['state']
  /** Answers that were none of its faults. */
  answers: number
  failures: number
  answeredAt: number | undefined
  /** In one word of ours or as a status: nothing of what the upstream said. */
  lastFailure: { at: number; why: string } | undefined
}

/** An upstream with its health: every answer of `send` is counted. */
class MonitoredUpstream implements Upstream {
  private readonly breaker: CircuitBreaker
  private answers = 0
  private failures = 0
  private answeredAt: number | undefined
  private lastFailure: UpstreamHealth['lastFailure']

  constructor(
    private readonly upstream: Upstream,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.breaker = new CircuitBreaker(clock)
  }

  get health(): UpstreamHealth {
    const { name, kind, answers, failures, answeredAt, lastFailure } = this
    return { name, kind, state: this.breaker.state, answers, failures, answeredAt, lastFailure }
  }

  get name(): string {
    return this.upstream.name
  }

  get kind(): string {
    return this.upstream.kind
  }

  /** False while its breaker is open: then another offer is taken, or none (503). */
  get isAvailable(): boolean {
    return this.breaker.isAvailable
  }

  send(call: UpstreamCall): Promise<Response> {
    return this.counted(() => this.upstream.send(call))
  }

  async poll(at: PollRequest): Promise<Response> {
    const poll = this.upstream.poll?.bind(this.upstream)
    if (!poll) throw new UpstreamError('refused', this.name)
    return this.counted(() => poll(at))
  }

  private async counted(ask: () => Promise<Response>): Promise<Response> {
    if (!this.breaker.tryAcquire()) throw new UpstreamError('refused', this.name)
    try {
      const answer = await ask()
      this.judge(answer.status)
      return answer
    } catch (error) {
      if (error instanceof UpstreamError && error.kind === 'aborted') this.breaker.released()
      else if (error instanceof UpstreamError) this.failed(error.kind, { fault: error.kind })
      else this.failed('unknown', { fault: String(error) })
      throw error
    }
  }

  private judge(status: number): void {
    const why = `status ${status}`
    if (keyStatuses.includes(status)) return this.failed(why, { status }, 'upstream.key_refused')
    if (status >= 500) return this.failed(why, { status })
    this.breaker.succeeded()
    this.answers += 1
    this.answeredAt = this.clock.now()
  }

  /** The operator is told also of what another upstream mends: who asked never hears of that. */
  private failed(why: string, facts: Record<string, unknown>, event = 'upstream.failed'): void {
    const upstream = this.name
    this.failures += 1
    this.lastFailure = { at: this.clock.now(), why }
    this.log.warn(event, { upstream, ...facts })
    if (this.breaker.failed()) this.log.warn('upstream.open', { upstream })
  }
}

/** Every upstream by its name, each with its health and its measured speed. */
export class Registry {
  readonly speeds = new Speeds()
  private readonly byName: Map<string, MonitoredUpstream>

  constructor(upstreams: Upstream[], ctx: { clock: Clock; log: Log }) {
    this.byName = new Map(
      upstreams.map((one) => [one.name, new MonitoredUpstream(one, ctx.clock, ctx.log)]),
    )
  }

  get names(): string[] {
    return [...this.byName.keys()]
  }

  find(name: string): MonitoredUpstream | undefined {
    return this.byName.get(name)
  }

  /** How each of them does. */
  health(): UpstreamHealth[] {
    return [...this.byName.values()].map((one) => one.health)
  }
}

/** What was found of upstreams; the catalogue is opened with it. */
export interface OpenedUpstreams {
  registry: Registry
  /** Names of the providers whose prices are published. */
  published: string[]
  /** Models that an upstream on this machine told of. */
  local: { upstream: string; model: string }[]
  demo: boolean
}

/** The upstreams of the keys, whose prices are published. */
export const keyedUpstreams = (config: Config) =>
  Object.entries(providers).flatMap(([name, { key, ...provider }]) => {
    const apiKey = config[key]
    return apiKey ? [{ ...provider, name, apiKey }] : []
  })

/**
 * Opens the upstreams of the tables and of the keys, an Ollama that answers or that a table names,
 * and the demo upstream when it is wanted or when nothing else is configured.
 */
export async function openUpstreams(
  config: Config,
  ctx: { clock: Clock; log: Log },
): Promise<OpenedUpstreams> {
  const keyed = keyedUpstreams(config)
  const configured = [...keyed, ...config.upstreams]
  const wanted = config.demoModels
  const demo = wanted === 'on' || (wanted === 'auto' && configured.length === 0)
  const found = config.ollamaHost ? await listOllamaModels(config.ollamaHost) : undefined
  const ollama = {
    name: 'ollama',
    kind: 'openai',
    baseUrl: `${config.ollamaHost}/v1`,
    outputName: 'max_tokens',
  } as const
  const isNamed = config.models.some(({ upstreams }) => upstreams.includes(ollama.name))
  const rows = [...configured, ...(found || (config.ollamaHost && isNamed) ? [ollama] : [])]
  const lanes = await Promise.all(
    rows.map(async ({ kind, ...to }) => {
      if (kind === 'openai') return createOpenAiAdapter(to)
      // The translators are loaded only where they are used.
      const { createAiSdkAdapter: translatedLane } = await import('./ai-sdk/adapter.ts')
      return translatedLane({ ...to, kind }, ctx.clock)
    }),
  )
  return {
    registry: new Registry([...lanes, ...(demo ? [demoUpstream(ctx.clock)] : [])], ctx),
    published: keyed.map(({ name }) => name),
    local: (found ?? []).map((model) => ({ upstream: ollama.name, model })),
    demo,
  }
}
