import { type StaticDecode, Type } from '@sinclair/typebox'

import {
  addressList,
  type CamelCase,
  choice,
  databaseUrl,
  integer,
  issuer,
  ollamaHost,
  onOff,
  optionalInteger,
  origin,
  rate,
  retentionDays,
  seconds,
  secret,
  text,
  url,
  usdAmount,
  usdPrice,
} from './setting-types.ts'
import type { ModelRow, UpstreamRow } from './tables.ts'

const providerKey = (provider: string) =>
  secret(`API key of ${provider}. When it is set, the gateway serves its models.`)
const searchKey = (engine: string) =>
  secret(`API key of ${engine}. When it is set, ${engine} searches the web.`)

const server = {
  PORT: integer(0, 65_535, 3_000, 'Port to listen on; 0 picks a free port.'),
  HOST: text('Address to listen on; 0.0.0.0 listens on every interface.', {
    pattern: '^[\\w.:-]{1,253}$',
    expected: 'an address or a host name to listen on',
    default: '127.0.0.1',
  }),
  DATA_DIR: text('Folder of the database and the stored files.', {
    minLength: 1,
    expected: 'the path of a folder',
    default: './data',
  }),
  DATABASE_URL: databaseUrl('URL of a PostgreSQL database. Default: SQLite in the data folder.'),
  METRICS_TOKEN: secret('Bearer token for GET /metrics. Without it there are no metrics.'),
}

const publicUrls = {
  BASE_URL: url('Public URL of the Agent API. Default: /api of APP_URL.'),
  GATEWAY_URL: url('Public URL of the model gateway. Default: APP_URL.'),
  APP_URL: origin('Public URL of the web pages. Other public URLs default to it.'),
  MCP_URL: url('Public URL of the MCP endpoint. Default: /mcp of APP_URL.'),
  APPS_URL: origin(
    'Separate host for the app sandbox, so that apps share no origin with the site.',
  ),
  TRUSTED_PROXIES: addressList(
    'IP addresses of proxies that may set X-Forwarded-For, separated by commas.',
  ),
}

const signIn = {
  PERSON_HEADER: text(
    'Header in which a trusted proxy names the signed-in person. It turns password sign-in off.',
    { pattern: '^[\\w-]{0,100}$', expected: 'the name of a header, such as Remote-User' },
  ),
  OIDC_ISSUER: issuer('URL of an OpenID Connect provider for sign-in. Needs OIDC_CLIENT_ID.'),
  OIDC_CLIENT_ID: text('Client ID of this server at that provider.'),
  OIDC_CLIENT_SECRET: secret('Client secret at that provider. Without it the client is public.'),
  OIDC_NAME: text('Name of the provider on the button “Sign in with …”.', {
    default: 'single sign-on',
  }),
}

const hosting = {
  AGENTS_ON: onOff(true, 'Enables the Agent API.'),
  GAMES_ON: onOff(true, 'Allows building games.'),
  ASSETS_ON: onOff(true, 'Allows apps to have assets.'),
  PRICES_ON: onOff(true, 'Allows a price on remixes.'),
  KEYS_OPEN: choice(
    ['on', 'invite'],
    'Who may create API keys: anyone (on), or only with the operator token (invite).',
  ),
  OPERATOR_TOKEN: secret('Token that may create API keys when KEYS_OPEN is invite.'),
  KEYS_PER_ADDRESS_DAY: rate(3, 'New API keys per day from one IP address.'),
  KEYS_PER_DAY: rate(300, 'New API keys per day in total.'),
  REQUESTS_PER_MINUTE: rate(240, 'Agent API requests per minute from one IP address.'),
  PUBLISHES_PER_HOUR: rate(60, 'Apps and versions that an agent may publish per hour.'),
  BUILDS_PER_HOUR: rate(20, 'Builds that an agent may start per hour.'),
  DAILY_CAP_CREDITS: optionalInteger(
    1_000_000_000,
    'Credits that a new API key may spend per day (UTC). Empty: no cap.',
  ),
  BYTES_PER_AGENT: integer(
    0,
    1_000_000_000_000,
    2_000_000_000,
    'Bytes of pages and assets that one agent may store; 0 means no limit.',
  ),
  DISK_FLOOR_BYTES: integer(
    0,
    1_000_000_000_000_000,
    200_000_000,
    'Free disk space in bytes below which the server accepts no new data.',
  ),
}

const builds = {
  BUILDER_MODEL: text(
    'Chat model that builds apps. Default: demo/builder while all models are demo models.',
  ),
  GAME_BUILDER_MODEL: text('Chat model that builds games. Default: BUILDER_MODEL.'),
  FREE_SPEND_PER_DAY_USD: usdAmount(
    '5',
    'USD of free credits that builds may cost per day (UTC), over all agents.',
  ),
  BUILDER_BROWSER: text(
    'Chromium that tests a build before it is published: a path, auto or off.',
    { default: 'auto' },
  ),
  PAINTER_MODEL: text('Model that creates sprites and pictures.'),
  SPEAKER_MODEL: text('Model that synthesizes speech for assets.'),
  SOUND_MODEL: text('Model that creates sound effects and music.'),
  EMBEDDED_MAKERS: onOff(true, 'Generates assets without a model where no model is set for them.'),
  EMBEDDED_ASSET_CREDITS: integer(
    0,
    100_000,
    0,
    'Price in credits of an asset that is generated without a model.',
  ),
}

const gateway = {
  GATEWAY_REQUESTS_PER_MINUTE: rate(120, 'Gateway requests per minute from one IP address.'),
  START_CREDITS_ON_GATEWAY: choice(
    ['auto', 'on', 'off'],
    'Lets free credits of agents pay at the gateway. auto: only while all models are demo models.',
  ),
  GATEWAY_DEVELOPER_ROLE: choice(
    ['refused', 'system'],
    'Handling of chat messages with the role developer: an error, or read as system.',
  ),
  DEMO_MODELS: choice(
    ['auto', 'on', 'off'],
    'Serves the demo models. auto: only while no other upstream is configured.',
  ),
  MARGIN_PERCENT: integer(
    0,
    1_000,
    0,
    'Margin in percent that is added to the price of every model.',
  ),
  GATEWAY_FIRST_BYTE_SECONDS: seconds(120, 'Seconds until the first byte of an upstream response.'),
  GATEWAY_TOTAL_SECONDS: seconds(600, 'Seconds until the end of an upstream response.'),
  VIDEO_POLL_SECONDS: seconds(5, 'Seconds between two polls of a video that an upstream creates.'),
  FILES_KEPT_DAYS: integer(
    0,
    36_500,
    30,
    'Days after their last use that uploaded files are kept. 0 keeps them forever.',
  ),
  USAGE_KEPT_DAYS: retentionDays('Days that usage records are kept.'),
}

const upstreamKeys = {
  OPENAI_API_KEY: providerKey('OpenAI'),
  OPENROUTER_API_KEY: providerKey('OpenRouter'),
  GROQ_API_KEY: providerKey('Groq'),
  TOGETHER_API_KEY: providerKey('Together'),
  DEEPSEEK_API_KEY: providerKey('DeepSeek'),
  MISTRAL_API_KEY: providerKey('Mistral'),
  XAI_API_KEY: providerKey('xAI'),
  GEMINI_API_KEY: providerKey('Google Gemini'),
  ANTHROPIC_API_KEY: providerKey('Anthropic'),
  COHERE_API_KEY: providerKey('Cohere'),
  FAL_KEY: providerKey('fal'),
  REPLICATE_API_TOKEN: providerKey('Replicate'),
  ELEVENLABS_API_KEY: providerKey('ElevenLabs'),
  DEEPGRAM_API_KEY: providerKey('Deepgram'),
  OLLAMA_HOST: ollamaHost('Ollama server. Its models are read once, at the start; off skips it.'),
}

const search = {
  SEARCH_ON: onOff(true, 'Allows chat models to search the web.'),
  SEARXNG_URL: url('SearXNG server that searches the web. It must allow the format json.'),
  BRAVE_API_KEY: searchKey('Brave Search'),
  TAVILY_API_KEY: searchKey('Tavily'),
  EXA_API_KEY: searchKey('Exa'),
  SEARCH_PRICE_USD: usdPrice(
    '0.005',
    'Price in USD of a web search, for models without a per_search price.',
  ),
}

const safety = {
  SCAN_HOOK_URL: url(
    'URL that checks each page and icon before publication, after the built-in rules.',
  ),
  HOOKS_TO_PRIVATE: onOff(false, 'Allows webhooks to private addresses and to this machine.'),
  MODERATION_KEPT_DAYS: retentionDays('Days that reports, appeals and decisions are kept.'),
}

/** The settings by section, as docs/settings.md lists them. */
export const sections = {
  Server: server,
  'Public URLs and proxies': publicUrls,
  'Sign-in': signIn,
  'Agent API': hosting,
  'Builds and assets': builds,
  'Model gateway': gateway,
  'Upstream providers': upstreamKeys,
  'Web search': search,
  'Safety and webhooks': safety,
}

/** All settings by the name of their environment variable; berth.toml has them in lower case. */
export const SettingsSchema = Type.Object({
  ...server,
  ...publicUrls,
  ...signIn,
  ...hosting,
  ...builds,
  ...gateway,
  ...upstreamKeys,
  ...search,
  ...safety,
})

type Settings = StaticDecode<typeof SettingsSchema>
export type SettingName = keyof Settings

/** The origin of a value, by precedence. */
export type Source = 'flag' | 'environment' | 'berth.toml' | 'default'

/** A setting with its value for display. The value of a secret is "(set)". */
export interface ConfigRow {
  name: SettingName
  value: string
  source: Source
  description: string
}

/** All settings by camel case name: `DATA_DIR` is `config.dataDir`. */
export type Config = { [Name in SettingName as CamelCase<Name>]: Settings[Name] } & {
  /** The tables `[[upstream]]` and `[[model]]` of berth.toml. */
  upstreams: UpstreamRow[]
  models: ModelRow[]
  /** Every setting as `berth config` prints it. */
  rows: ConfigRow[]
  /** Likely mistakes that do not prevent a start. */
  warnings: string[]
}
