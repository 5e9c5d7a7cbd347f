import type { ClientApi } from '../client-api.ts'

export const isMistralClient = (headers: Headers): boolean =>
  headers.get('user-agent')?.startsWith('mistral-client-') === true

/** The models, files and transcriptions in Mistral's format. Its errors are those of OpenAI. */
export const mistral: ClientApi = {
  prefix: '/mistral',
  publicPrefix: '/v1',
  shared: {
    start: /^(\/v1)?(?=\/(models|files)(\/|$)|\/audio\/transcriptions$)/,
    isSender: isMistralClient,
  },
}
