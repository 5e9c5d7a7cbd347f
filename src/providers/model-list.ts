import type { UpstreamRow } from '../config/providers.ts'
import { isRecord, itemsOf } from '../core/schema.ts'
import { second } from '../core/time.ts'
import { modelListBytesMax, servedModelsMax } from '../limits.ts'
import { fetchJson } from './fetch-json.ts'

const askMs = 10 * second

/** How a kind of upstream is asked which models it serves. */
interface Way {
  path: string
  headers(key: string): Record<string, string>
  /** Where the list is, and what names a model in it. */
  list: string
  name: string
}

const ways: Partial<Record<UpstreamRow['kind'], Way>> = {
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
 * The names of the models that an upstream says it serves; undefined for a kind that does not tell.
 * Throws when it gives no answer.
 */
export async function listServedModels(
  to: Pick<UpstreamRow, 'kind' | 'baseUrl' | 'apiKey'>,
): Promise<string[] | undefined> {
  const way = ways[to.kind]
  if (!way) return undefined
  const headers = to.apiKey ? way.headers(to.apiKey) : {}
  const request = new Request(to.baseUrl + way.path, { headers })
  const bounds = { signal: AbortSignal.timeout(askMs), bytesMax: modelListBytesMax }
  const answer = await fetchJson(request, bounds)
  const list: unknown = isRecord(answer) ? answer[way.list] : answer
  const rows = itemsOf(list).slice(0, servedModelsMax)
  return rows.flatMap((row) => {
    const name = isRecord(row) ? row[way.name] : undefined
    return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
  })
}
