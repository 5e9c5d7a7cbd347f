import { upstreamKeys } from '../../kernel/config/gateway-settings.ts'
import { providers } from '../../kernel/config/providers.ts'
import { camelCase } from '../../kernel/config/setting-types.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { UpstreamRow } from '../../kernel/config/tables.ts'
import type { Log } from '../../kernel/log.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Api } from '../conversation/chat-request.ts'
import { Balancer } from './balancer.ts'
import { createDemoUpstream } from './demo/demo.ts'
import { Measurements } from './measurements.ts'
import { listOllamaModels, openLocalServers } from './model-list.ts'
import { MonitoredUpstream, type UpstreamHealth } from './monitored-upstream.ts'
import { createOpenAiAdapter } from './openai-compatible.ts'
import type { Upstream } from './upstream.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The upstream providers, with the health and speed that this process measured. */
    readonly upstreams: Registry
  }
}

/** All upstreams by name, with their health and measured calls. */
export class Registry {
  readonly measurements: Measurements
  readonly balancer: Balancer
  private byName = new Map<string, MonitoredUpstream>()

  constructor(
    upstreams: Upstream[],
    private readonly parts: { clock: Clock; log: Log },
  ) {
    this.measurements = new Measurements(parts.clock)
    this.balancer = new Balancer(this.measurements, parts.clock)
    this.replace(upstreams)
  }

  /** Replaces all upstreams, after a change of the settings. Running calls end at the old ones. */
  replace(upstreams: Upstream[]): void {
    const { clock, log } = this.parts
    this.byName = new Map(
      upstreams.map((one) => [one.name, new MonitoredUpstream(one, clock, log)]),
    )
  }

  get names(): string[] {
    return [...this.byName.keys()]
  }

  find(name: string): MonitoredUpstream | undefined {
    return this.byName.get(name)
  }

  /** Returns whether an upstream speaks an API of chats. */
  speaks(api: Api): boolean {
    return this.byName.values().some(({ apis }) => apis.includes(api))
  }

  health(): UpstreamHealth[] {
    return [...this.byName.values()].map((upstream) => upstream.health)
  }
}

/** The opened upstreams, as input for the catalog. */
export interface OpenedUpstreams {
  registry: Registry
  /** Names of the providers with published prices. */
  published: string[]
  /** Models of an upstream on this machine. */
  local: { upstream: string; model: string }[]
  /** The upstreams of further API keys, by the name of the first one. */
  replicas: Map<string, string[]>
  demo: boolean
}

const severalKeys = /^[^\s,{}"]+(,[^\s,{}"]+)+$/

/**
 * Returns an upstream for each of the API keys of a row, which are separated by commas: "openai",
 * "openai#2" and so on.
 */
export function splitKeys<T extends { name: string; apiKey?: string }>(row: T): T[] {
  const { name, apiKey = '' } = row
  if (!severalKeys.test(apiKey)) return [row]
  return apiKey.split(',').map((key, at) => ({
    ...row,
    name: at === 0 ? name : `${name}#${at + 1}`,
    apiKey: key,
  }))
}

/** Returns the providers with a configured API key. Their prices are published. */
export const keyedUpstreams = (config: Config) =>
  Object.entries(providers).flatMap(([name, entry]) => {
    const { key, ...provider } = entry
    const apiKey = config[key]
    const baseUrl = baseUrlOf(config, entry)
    return apiKey && baseUrl ? [{ ...provider, name, apiKey, baseUrl }] : []
  })

/** Returns all settings of upstreams as a text, which differs after a change of one. */
export const upstreamSettings = (config: Config): string =>
  JSON.stringify(
    config.rows.flatMap(({ name, source }) =>
      Object.hasOwn(upstreamKeys, name)
        ? [[name, source, Reflect.get(config, camelCase(name))]]
        : [],
    ),
  )

type KeyedProvider = (typeof providers)[keyof typeof providers]

/** Returns the base URL of a provider; '' where a setting of it is missing. */
function baseUrlOf(config: Config, provider: KeyedProvider): string {
  if (!('place' in provider)) return provider.baseUrl
  const { setting, template } = provider.place
  return config[setting] === '' ? '' : template.replace('{}', config[setting])
}

export async function openAdapter({ kind, ...row }: UpstreamRow, clock: Clock): Promise<Upstream> {
  if (kind === 'openai') return createOpenAiAdapter(row)
  // Loaded on demand: the provider packages slow the start.
  const { createAiSdkAdapter } = await import('./ai-sdk/adapter.ts')
  return createAiSdkAdapter({ ...row, kind }, clock)
}

/**
 * Opens the upstreams of berth.toml and of the configured keys; Ollama, when it responds or a model
 * names it; and the demo upstream, when it is on or nothing else is configured. `registry` gets
 * them.
 */
export async function openUpstreams(
  config: Config,
  parts: { clock: Clock; log: Log },
  registry = new Registry([], parts),
): Promise<OpenedUpstreams> {
  const keyed = keyedUpstreams(config)
  const configured = [...keyed, ...config.upstreams]
  const { demoModels, ollamaHost } = config
  const servers = await openLocalServers(config, parts.log)
  const hasOthers = configured.length > 0 || servers.rows.length > 0
  const demo = demoModels === 'on' || (demoModels === 'auto' && !hasOthers)
  const localModels = ollamaHost ? await listOllamaModels(ollamaHost) : undefined
  const ollama = {
    name: 'ollama',
    kind: 'openai',
    baseUrl: `${ollamaHost}/v1`,
    outputName: 'max_tokens',
  } as const
  const isNamed = config.models.some(({ upstreams }) => upstreams.includes(ollama.name))
  const groups = configured.map(splitKeys)
  const rows = [
    ...groups.flat(),
    ...(localModels || (ollamaHost && isNamed) ? [ollama] : []),
    ...servers.rows,
  ]
  const adapters = await Promise.all(rows.map((row) => openAdapter(row, parts.clock)))
  registry.replace([...adapters, ...(demo ? [createDemoUpstream(parts.clock)] : [])])
  return {
    registry,
    published: keyed.map(({ name }) => name),
    replicas: new Map(
      groups.flatMap(([first, ...more]) =>
        first && more.length > 0 ? [[first.name, more.map(({ name }) => name)]] : [],
      ),
    ),
    local: [
      ...(localModels ?? []).map((model) => ({ upstream: ollama.name, model })),
      ...servers.models,
    ],
    demo,
  }
}
