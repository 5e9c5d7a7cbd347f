import { LRUCache } from 'lru-cache'

import { lazy } from '../lazy.ts'
import { lookUp } from '../schema.ts'
import { type Attributes, encodeAttributes, encodePairs, encodeTime } from './otlp.ts'

/** A response to a request. `ms`: milliseconds until it began. */
export interface ServedRequest {
  method: string
  /** The pattern of the route; undefined for an unknown path. */
  route: string | undefined
  status: number
  ms: number
  requestId: string
  key: string | undefined
}

/** A call of a model at an upstream. Times are in milliseconds. */
export interface ModelCall {
  operation: 'chat' | 'embeddings' | 'generate_content'
  /** The upstream, and the model's name there. */
  upstream: string
  upstreamModel: string
  model: string
  requestId: string
  ms: number
  firstByteMs: number | null
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  /** USD. */
  cost: number
  /** The type of the error; undefined for a success. */
  error: string | undefined
  /** Parameters of the request and the contents, as attributes. */
  more: Attributes
}

type RouteStatus = Pick<ServedRequest, 'method' | 'route' | 'status'>

/** The parts of a route's spans and metrics that do not change. */
interface KnownRoute {
  nameText: string
  pairs: string
  durations: Series
  error: string | undefined
}

/** The same of a model at an upstream. */
interface KnownModel extends KnownRoute {
  firstBytes(): Series
  input(): Series
  output(): Series
}

const knownMax = 2_000

const seconds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const tokens = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304]
const durations = { unit: 's', bounds: seconds }

/** The names of providers in the GenAI semantic conventions, where they differ from ours. */
const providerNames: Record<string, string> = {
  mistral: 'mistral_ai',
  xai: 'x_ai',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  moonshot: 'moonshot_ai',
}

const providerOf = (upstream: string): string => {
  const name = upstream.replace(/#\d+$/, '')
  return lookUp(providerNames, name) ?? name
}

/** The metrics, and what the spans of a route or a model have in common. */
export class Instruments {
  private readonly routes = new LRUCache<string, KnownRoute>({ max: knownMax })
  private readonly models = new LRUCache<string, KnownModel>({ max: knownMax })
  private readonly requests = new Histogram({
    ...durations,
    name: 'http.server.request.duration',
    description: 'Time until a response began.',
  })
  private readonly calls = new Histogram({
    ...durations,
    name: 'gen_ai.client.operation.duration',
    description: 'Duration of a call of a model.',
  })
  private readonly firstBytes = new Histogram({
    ...durations,
    name: 'gen_ai.client.operation.time_to_first_chunk',
    description: 'Time until the first event of a response.',
  })
  private readonly usage = new Histogram({
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Input and output tokens of a call.',
    bounds: tokens,
  })

  /** Returns the instruments of a route and a status. */
  ofRoute({ method, route, status }: RouteStatus): KnownRoute {
    const routeKey = `${method} ${route} ${status}`
    const before = this.routes.get(routeKey)
    if (before) return before
    const error = status >= 500 ? String(status) : undefined
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'error.type': error,
    }
    const known = {
      nameText: JSON.stringify(route === undefined ? method : `${method} ${route}`),
      pairs: encodePairs(attributes),
      durations: this.requests.series(attributes),
      error,
    }
    this.routes.set(routeKey, known)
    return known
  }

  /** Returns the instruments of a model at an upstream, for successes or for one error. */
  ofModel({ operation, model, upstream, upstreamModel, error }: ModelCall): KnownModel {
    const modelKey = `${operation}\n${model}\n${upstream}\n${upstreamModel}\n${error}`
    const before = this.models.get(modelKey)
    if (before) return before
    const labels = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerOf(upstream),
      'gen_ai.request.model': model,
      'gen_ai.response.model': upstreamModel,
    }
    const type = (name: string) => ({ ...labels, 'gen_ai.token.type': name })
    const known = {
      nameText: JSON.stringify(`${operation} ${model}`),
      pairs: encodePairs({ ...labels, 'berth.upstream': upstream, 'error.type': error }),
      durations: this.calls.series({ ...labels, 'error.type': error }),
      firstBytes: lazy(() => this.firstBytes.series(labels)),
      input: lazy(() => this.usage.series(type('input'))),
      output: lazy(() => this.usage.series(type('output'))),
      error,
    }
    this.models.set(modelKey, known)
    return known
  }

  /** Encodes all metrics. Times are milliseconds since 1970. */
  encode(startedAt: number, now: number): string[] {
    const all = [this.requests, this.calls, this.firstBytes, this.usage]
    return all.flatMap((one) => one.encode(startedAt, now) ?? [])
  }
}

/** The values of a histogram with one set of attributes. */
class Series {
  readonly counts: number[]
  sum = 0

  constructor(
    readonly attributes: Attributes,
    private readonly bounds: readonly number[],
  ) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  record(value: number): void {
    const { bounds, counts } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
    counts[bucket] = (counts[bucket] ?? 0) + 1
    this.sum += value
  }
}

/** Sets of attributes of one histogram. Further ones are counted together. */
const seriesMax = 1_000
const overflow: Attributes = { 'otel.metric.overflow': true }

interface HistogramOptions {
  name: string
  unit: string
  description: string
  /** The upper bounds of the buckets, ascending. The last bucket has none. */
  bounds: readonly number[]
}

/** A histogram of OpenTelemetry with cumulative buckets since the start. */
class Histogram {
  private readonly all = new Map<string, Series>()

  constructor(private readonly options: HistogramOptions) {}

  /** Returns the series of some attributes. */
  series(attributes: Attributes): Series {
    const key = Object.values(attributes).join('\n')
    const known = this.all.get(key)
    if (known) return known
    if (this.all.size >= seriesMax && attributes !== overflow) return this.series(overflow)
    const created = new Series(attributes, this.options.bounds)
    this.all.set(key, created)
    return created
  }

  /** Encodes all series; undefined before the first value. Times are milliseconds since 1970. */
  encode(startedAt: number, now: number): string | undefined {
    if (this.all.size === 0) return undefined
    const { name, unit, description, bounds } = this.options
    const points = [...this.all.values()].map(({ attributes, counts, sum }) => {
      const count = counts.reduce((total, one) => total + one, 0)
      const buckets = counts.map((one) => `"${one}"`).join(',')
      return (
        `{"attributes":${encodeAttributes(attributes)},"startTimeUnixNano":${encodeTime(startedAt)},` +
        `"timeUnixNano":${encodeTime(now)},"count":"${count}","sum":${sum},` +
        `"bucketCounts":[${buckets}],"explicitBounds":[${bounds.join(',')}]}`
      )
    })
    return (
      `{"name":"${name}","unit":"${unit}","description":"${description}",` +
      `"histogram":{"aggregationTemporality":2,"dataPoints":[${points.join(',')}]}}`
    )
  }
}
