/** Default base URLs of the provider kinds that are called through the AI SDK. */
export const aiSdkBaseUrls = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  cohere: 'https://api.cohere.com/v2',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  fal: 'https://fal.run',
  replicate: 'https://api.replicate.com/v1',
  elevenlabs: 'https://api.elevenlabs.io',
  deepgram: 'https://api.deepgram.com',
} as const

export type AiSdkKind = keyof typeof aiSdkBaseUrls

interface Provider {
  /** The setting of its API key, as Config names it. */
  key: string
  kind: 'openai' | AiSdkKind
  baseUrl: string
  /** The name of the output limit in a request. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  /** The setting that completes its base URL, in place of `{}`. */
  place?: { setting: string; template: string }
  rejectsStreamOptions?: boolean
}

const openai = { kind: 'openai' } as const
const modern = { ...openai, outputName: 'max_completion_tokens' } as const
const older = { ...openai, outputName: 'max_tokens' } as const

const aiSdk = <K extends AiSdkKind>(kind: K) => ({ kind, baseUrl: aiSdkBaseUrls[kind] })

/** Providers that need only an API key, by the name that `upstream` of a `[[model]]` uses. */
export const providers = {
  openai: { key: 'openaiApiKey', baseUrl: 'https://api.openai.com/v1', ...modern },
  openrouter: { key: 'openrouterApiKey', ...openai, baseUrl: 'https://openrouter.ai/api/v1' },
  groq: { key: 'groqApiKey', baseUrl: 'https://api.groq.com/openai/v1', ...modern },
  together: { key: 'togetherApiKey', baseUrl: 'https://api.together.xyz/v1', ...older },
  deepseek: { key: 'deepseekApiKey', baseUrl: 'https://api.deepseek.com/v1', ...older },
  mistral: {
    key: 'mistralApiKey',
    baseUrl: 'https://api.mistral.ai/v1',
    ...older,
    rejectsStreamOptions: true,
  },
  xai: { key: 'xaiApiKey', baseUrl: 'https://api.x.ai/v1', ...modern },
  fireworks: {
    key: 'fireworksApiKey',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    ...older,
  },
  cerebras: { key: 'cerebrasApiKey', baseUrl: 'https://api.cerebras.ai/v1', ...modern },
  perplexity: { key: 'perplexityApiKey', baseUrl: 'https://api.perplexity.ai', ...older },
  moonshot: { key: 'moonshotApiKey', baseUrl: 'https://api.moonshot.ai/v1', ...older },
  zai: { key: 'zaiApiKey', baseUrl: 'https://api.z.ai/api/paas/v4', ...older },
  minimax: { key: 'minimaxApiKey', baseUrl: 'https://api.minimax.io/v1', ...older },
  novita: { key: 'novitaApiKey', baseUrl: 'https://api.novita.ai/v3/openai', ...older },
  ovhcloud: {
    key: 'ovhAiEndpointsAccessToken',
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    ...older,
  },
  avian: { key: 'avianApiKey', baseUrl: 'https://api.avian.io/v1', ...older },
  baseten: { key: 'basetenApiKey', baseUrl: 'https://inference.baseten.co/v1', ...older },
  deepinfra: { key: 'deepinfraApiKey', baseUrl: 'https://api.deepinfra.com/v1/openai', ...older },
  nebius: { key: 'nebiusApiKey', baseUrl: 'https://api.studio.nebius.ai/v1', ...older },
  alibaba: {
    key: 'dashscopeApiKey',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    ...older,
  },
  nvidia: { key: 'nvidiaApiKey', baseUrl: 'https://integrate.api.nvidia.com/v1', ...older },
  azure: {
    key: 'azureOpenaiApiKey',
    baseUrl: '',
    place: { setting: 'azureOpenaiEndpoint', template: '{}/openai/v1' },
    ...modern,
  },
  bedrock: {
    key: 'awsBearerTokenBedrock',
    ...aiSdk('bedrock'),
    place: { setting: 'awsRegion', template: 'https://bedrock-runtime.{}.amazonaws.com' },
  },
  gemini: { key: 'geminiApiKey', ...aiSdk('google') },
  // Its express mode has Gemini's API with an API key.
  vertex: {
    key: 'googleVertexApiKey',
    kind: 'google',
    baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
  },
  anthropic: { key: 'anthropicApiKey', ...aiSdk('anthropic') },
  cohere: { key: 'cohereApiKey', ...aiSdk('cohere') },
  fal: { key: 'falKey', ...aiSdk('fal') },
  replicate: { key: 'replicateApiToken', ...aiSdk('replicate') },
  elevenlabs: { key: 'elevenlabsApiKey', ...aiSdk('elevenlabs') },
  deepgram: { key: 'deepgramApiKey', ...aiSdk('deepgram') },
} as const satisfies Record<string, Provider>

/** Servers of models in the local network, by the setting of their address. */
export const localServers = {
  vllm: 'vllmUrl',
  lmstudio: 'lmstudioUrl',
  llamacpp: 'llamacppUrl',
  sglang: 'sglangUrl',
} as const

/** Types of models: those of document 2, section 2, and three of further operations. */
export const modelTypes = [
  'chat',
  'image',
  'video',
  'audio',
  'embedding',
  'moderation',
  'rerank',
  'realtime',
] as const
