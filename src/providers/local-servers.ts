import { localServers } from '../config/providers.ts'
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import { describeFailure } from './fetch-json.ts'
import { listServedModels } from './model-list.ts'

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
