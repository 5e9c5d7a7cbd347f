import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { localServers } from '../../kernel/config/providers.ts'
import type { Config, SettingName } from '../../kernel/config/settings.ts'
import type { UpstreamRow } from '../../kernel/config/tables.ts'
import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import { modelListBytesMax, servedModelsMax } from '../../kernel/limits.ts'
import type { Log } from '../../kernel/log.ts'
import { isRecord, itemsOf } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'

const timeoutMs = 10 * second

/** The model list endpoint of one kind of upstream. */
interface Endpoint {
  path: string
  headers(key: string): Record<string, string>
  /** Fields of the list and of a model's name in it. */
  list: string
  name: string
}

const endpoints: Partial<Record<UpstreamRow['kind'], Endpoint>> = {
  openai: {
    path: '/models',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    list: 'data',
    name: 'id',
  },
  anthropic: {
    path: '/models?limit=1000',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    list: 'data',
    name: 'id',
  },
  google: {
    path: '/models?pageSize=1000',
    headers: (key) => ({ 'x-goog-api-key': key }),
    list: 'models',
    name: 'name',
  },
}

/**
 * Lists the names of the models that an upstream serves; undefined for a kind without such a list.
 * Throws as `fetchJson` does.
 */
export async function listServedModels(
  { kind, baseUrl, apiKey }: Pick<UpstreamRow, 'kind' | 'baseUrl' | 'apiKey'>,
  waitMs = timeoutMs,
): Promise<string[] | undefined> {
  const endpoint = endpoints[kind]
  if (!endpoint) return undefined
  const headers = apiKey ? endpoint.headers(apiKey) : {}
  const request = new Request(baseUrl + endpoint.path, { headers })
  const bounds = { signal: AbortSignal.timeout(waitMs), bytesMax: modelListBytesMax }
  const body = await fetchJson(request, bounds)
  const rows = itemsOf(isRecord(body) ? body[endpoint.list] : body).slice(0, servedModelsMax)
  return rows.flatMap((row) => {
    const name = isRecord(row) ? row[endpoint.name] : undefined
    return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
  })
}

const ollamaTimeoutMs = 3 * second
const ollamaModelsMax = 200

const TagsSchema = Type.Object({ models: Type.Array(Type.Object({ name: Type.String() })) })

/** Lists the models of an Ollama server; undefined when none responds at `host` within 3 s. */
export async function listOllamaModels(host: string): Promise<string[] | undefined> {
  try {
    const signal = AbortSignal.timeout(ollamaTimeoutMs)
    const response = await fetch(`${host}/api/tags`, { signal, redirect: 'error' })
    const tags: unknown = response.ok ? await response.json() : undefined
    if (!Value.Check(TagsSchema, tags)) return undefined
    return tags.models.slice(0, ollamaModelsMax).map(({ name }) => name)
  } catch {
    // Most servers have no Ollama.
    return undefined
  }
}

/** An upstream in the local network, and the models that it serves. */
interface LocalServer {
  row: { name: string; kind: 'openai'; baseUrl: string; outputName: 'max_tokens' }
  models: { upstream: string; model: string }[]
}

/**
 * Reads the models of the configured local servers, once. A server that does not respond stays
 * an upstream, for models that berth.toml names.
 */
export async function openLocalServers(
  config: Config,
  log: Log,
): Promise<{ rows: LocalServer['row'][]; models: LocalServer['models'] }> {
  const servers = await Promise.all(
    Object.entries(localServers).flatMap(([name, setting]) => {
      const url = config[setting]
      return url === '' ? [] : [openServer(name, url, log)]
    }),
  )
  return { rows: servers.map(({ row }) => row), models: servers.flatMap(({ models }) => models) }
}

async function openServer(name: string, url: string, log: Log): Promise<LocalServer> {
  const baseUrl = `${url.replace(/\/v1$/, '')}/v1`
  const row = { name, kind: 'openai', baseUrl, outputName: 'max_tokens' } as const
  try {
    const served = (await listServedModels(row)) ?? []
    return { row, models: served.map((model) => ({ upstream: name, model })) }
  } catch (error) {
    log.warn('upstream.unreachable', { upstream: name, why: describeFailure(error) })
    return { row, models: [] }
  }
}

/** A kind of server with models, and where it listens unless its user chose another port. */
interface LocalPlace {
  name: string
  setting: Extract<SettingName, 'OLLAMA_HOST' | 'LMSTUDIO_URL' | 'LLAMACPP_URL' | 'VLLM_URL'>
  url: string
}

const localPlaces: readonly LocalPlace[] = [
  { name: 'Ollama', setting: 'OLLAMA_HOST', url: 'http://127.0.0.1:11434' },
  { name: 'LM Studio', setting: 'LMSTUDIO_URL', url: 'http://127.0.0.1:1234' },
  { name: 'llama.cpp', setting: 'LLAMACPP_URL', url: 'http://127.0.0.1:8080' },
  { name: 'vLLM', setting: 'VLLM_URL', url: 'http://127.0.0.1:8000' },
]

/** A server of this machine that responds with its models. */
export interface FoundServer extends LocalPlace {
  models: string[]
}

/** A server of this machine responds at once. */
const probeMs = 700

/** Finds the servers of models on this machine that respond now. */
export async function findLocalServers(places = localPlaces): Promise<FoundServer[]> {
  const found = await Promise.all(
    places.map(async (place) => {
      const models = await listServedModels(
        { kind: 'openai', baseUrl: `${place.url}/v1` },
        probeMs,
      ).catch(() => undefined)
      return models && models.length > 0 ? [{ ...place, models }] : []
    }),
  )
  return found.flat()
}
