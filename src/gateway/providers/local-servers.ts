import type { SettingName } from '../../kernel/config/settings.ts'
import { listServedModels } from './model-list.ts'

/** A kind of server with models, and where it listens unless its user chose another port. */
export interface LocalPlace {
  name: string
  setting: Extract<SettingName, 'OLLAMA_HOST' | 'LMSTUDIO_URL' | 'LLAMACPP_URL' | 'VLLM_URL'>
  url: string
}

const localPlaces: LocalPlace[] = [
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
