import type { ClientApi } from '../client-api.ts'

/** Mistral's own clients, and the AI SDK's provider, whose name follows others. */
const clients = /^mistral-client-|\bai-sdk[/-]mistral\//

export const isMistralClient = (headers: Headers): boolean =>
  clients.test(headers.get('user-agent') ?? '')

/** The models, files and transcriptions in Mistral's format. Its errors are those of OpenAI. */
export const mistral: ClientApi = {
  prefix: '/mistral',
  publicPrefix: '/v1',
  shared: {
    start: /^(\/v1)?(?=\/(models|files)(\/|$)|\/audio\/transcriptions$)/,
    isSender: isMistralClient,
  },
}
