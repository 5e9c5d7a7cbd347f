import { runningPerKey, runningPerKeyMax } from '../limits.ts'
import {
  awsRegion,
  choice,
  editable,
  integer,
  nameList,
  ollamaHost,
  onOff,
  priceList,
  rate,
  retentionDays,
  seconds,
  secret,
  url,
  usdPrice,
} from './setting-types.ts'

const providerKey = (provider: string) =>
  secret(`API key of ${provider}. When it is set, the gateway serves its models.`)
const syncedKey = (provider: string) =>
  secret(`API key of ${provider}. It serves models with a price: run berth models sync first.`)
const localUrl = (server: string) =>
  url(`Address of ${server}, without /v1. Its models are read at the start and after a change.`)
const searchKey = (engine: string) =>
  secret(`API key of ${engine}. When it is set, ${engine} searches the web.`)

export const gateway = {
  ...editable({
    GATEWAY_REQUESTS_PER_MINUTE: rate(120, 'Gateway requests per minute from one IP address.'),
    RUNNING_REQUESTS_PER_KEY: integer(
      1,
      runningPerKeyMax,
      runningPerKey,
      'Paid requests of one key that run at the same time, for keys without a limit of their own.',
    ),
    START_CREDITS_ON_GATEWAY: choice(
      ['auto', 'on', 'off'],
      'Lets free credits of agents pay at the gateway. auto: only while all models are demo models.',
    ),
    GATEWAY_DEVELOPER_ROLE: choice(
      ['refused', 'system'],
      'Handling of chat messages with the role developer: an error, or read as system.',
    ),
    MARGIN_PERCENT: integer(
      0,
      1_000,
      0,
      'Margin in percent that is added to the price of every model.',
    ),
    MODEL_PRICES: priceList(
      'Prices of single models, without the margin. The price of a [[model]] in berth.toml wins.',
    ),
    MODELS_OFF: nameList('Ids of models that the gateway does not serve, separated by commas.'),
  }),
  DEMO_MODELS: choice(
    ['auto', 'on', 'off'],
    'Serves the demo models. auto: only while no other upstream is configured.',
  ),
  GATEWAY_FIRST_BYTE_SECONDS: seconds(120, 'Seconds until the first byte of an upstream response.'),
  GATEWAY_TOTAL_SECONDS: seconds(600, 'Seconds until the end of an upstream response.'),
  VIDEO_POLL_SECONDS: seconds(5, 'Seconds between two polls of a video that an upstream creates.'),
  RESPONSE_CACHE_MB: integer(
    0,
    16_384,
    64,
    'Memory for responses to chats that ask for it with cache: { ttl }. 0 turns the cache off.',
  ),
  FILES_KEPT_DAYS: integer(
    0,
    36_500,
    30,
    'Days after their last use that uploaded files are kept. 0 keeps them forever.',
  ),
  RESPONSES_KEPT_DAYS: integer(
    0,
    36_500,
    0,
    'Days after their last use that responses of the Responses API are stored. 0 stores none.',
  ),
  USAGE_KEPT_DAYS: retentionDays('Days that usage records are kept.'),
}

export const upstreamKeys = editable({
  OPENAI_API_KEY: providerKey('OpenAI'),
  OPENROUTER_API_KEY: providerKey('OpenRouter'),
  GROQ_API_KEY: providerKey('Groq'),
  TOGETHER_API_KEY: providerKey('Together'),
  DEEPSEEK_API_KEY: providerKey('DeepSeek'),
  MISTRAL_API_KEY: providerKey('Mistral'),
  XAI_API_KEY: providerKey('xAI'),
  FIREWORKS_API_KEY: providerKey('Fireworks'),
  CEREBRAS_API_KEY: providerKey('Cerebras'),
  PERPLEXITY_API_KEY: providerKey('Perplexity'),
  MOONSHOT_API_KEY: providerKey('Moonshot'),
  ZAI_API_KEY: providerKey('Z.ai (Zhipu)'),
  MINIMAX_API_KEY: providerKey('MiniMax'),
  NOVITA_API_KEY: providerKey('Novita'),
  OVH_AI_ENDPOINTS_ACCESS_TOKEN: providerKey('OVHcloud AI Endpoints'),
  AVIAN_API_KEY: providerKey('Avian'),
  BASETEN_API_KEY: providerKey('Baseten'),
  DEEPINFRA_API_KEY: syncedKey('DeepInfra'),
  NEBIUS_API_KEY: syncedKey('Nebius'),
  DASHSCOPE_API_KEY: syncedKey('Alibaba Cloud Model Studio'),
  NVIDIA_API_KEY: syncedKey('NVIDIA NIM'),
  AZURE_OPENAI_API_KEY: syncedKey('Azure OpenAI'),
  AZURE_OPENAI_ENDPOINT: url(
    'Endpoint of Azure OpenAI, such as https://<resource>.openai.azure.com.',
  ),
  AWS_BEARER_TOKEN_BEDROCK: providerKey('Amazon Bedrock'),
  AWS_REGION: awsRegion('Region of Amazon Bedrock.'),
  GEMINI_API_KEY: providerKey('Google Gemini'),
  GOOGLE_VERTEX_API_KEY: providerKey('Google Vertex AI, in express mode'),
  ANTHROPIC_API_KEY: providerKey('Anthropic'),
  COHERE_API_KEY: providerKey('Cohere'),
  FAL_KEY: providerKey('fal'),
  REPLICATE_API_TOKEN: providerKey('Replicate'),
  ELEVENLABS_API_KEY: providerKey('ElevenLabs'),
  DEEPGRAM_API_KEY: providerKey('Deepgram'),
  VLLM_URL: localUrl('vLLM'),
  LMSTUDIO_URL: localUrl('LM Studio'),
  LLAMACPP_URL: localUrl('llama.cpp'),
  SGLANG_URL: localUrl('SGLang'),
  OLLAMA_HOST: ollamaHost(
    'Ollama server. Its models are read at the start and after a change here; off skips it.',
  ),
})

export const search = {
  SEARCH_ON: onOff(true, 'Allows chat models to search the web.'),
  SEARXNG_URL: url('SearXNG server that searches the web. It must allow the format json.'),
  BRAVE_API_KEY: searchKey('Brave Search'),
  TAVILY_API_KEY: searchKey('Tavily'),
  EXA_API_KEY: searchKey('Exa'),
  ...editable({
    SEARCH_PRICE_USD: usdPrice(
      '0.005',
      'Price in USD of a web search, for models without a per_search price.',
    ),
  }),
}

export const guardrail = {
  GUARDRAIL_URL: url('Address that is asked before a model of the gateway runs. Empty: off.'),
  GUARDRAIL_TOKEN: secret('Bearer token for GUARDRAIL_URL.'),
  GUARDRAIL_MS: integer(50, 60_000, 2_000, 'Milliseconds within which it must answer.'),
  GUARDRAIL_OUTPUT: onOff(
    false,
    'Also asks with the response of a chat and the text of audio, before a client gets it. Streams are held back.',
  ),
  GUARDRAIL_FAILURE: choice(
    ['refuse', 'allow'],
    'Response to a failed check: requests get 503, or they run.',
  ),
}
