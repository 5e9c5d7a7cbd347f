import type { ModelRow, UpstreamRow } from './providers.ts'
import {
  address,
  addresses,
  amountUsd,
  database,
  folder,
  headerName,
  host,
  issuer,
  ollamaAddress,
  oneOf,
  onOff,
  site,
  usd,
  whole,
  wholeOrNone,
  words,
} from './values.ts'

/**
 * Every setting: its name (the environment's; berth.toml writes it in lower case), type, default
 * and one sentence. Rates: 0 turns the limit off.
 */
export interface Setting<T> {
  read(text: string): T | undefined
  /** What `read` takes, for the line that tells of a fault. */
  takes: string
  initial: string
  help: string
  secret?: true
}

const someWords = (help: string) => ({ ...words, initial: '', help })
const someAddress = (help: string) => ({ ...address, initial: '', help })

/** How often something may be done; 0 turns the limit off. */
const rate = (initial: string, help: string) => ({ ...whole(0, 1_000_000), initial, help })

const days = (help: string) => ({ ...whole(0, 36_500), initial: '400', help })
const seconds = (initial: string, help: string) => ({ ...whole(1, 86_400), initial, help })

const secretWords = (help: string) => ({ ...words, initial: '', help, secret: true as const })

/** The key of a provider of models, which makes its catalogue ours to serve. */
const providerKey = (provider: string) =>
  secretWords(`Key of ${provider}; with one its models are served.`)

const searchKey = (engine: string) => secretWords(`Key of ${engine}, which then searches the web.`)

/** Reads are typed by the rows: `Config` below follows from them. */
export const settings = {
  PORT: { ...whole(0, 65_535), initial: '3000', help: 'Port to listen on; 0 takes a free one.' },
  HOST: { ...host, initial: '127.0.0.1', help: 'Address to listen on; 0.0.0.0 is every one.' },
  DATA_DIR: { ...folder, initial: './data', help: 'Folder of the database and the files.' },
  DATABASE_URL: {
    ...database,
    initial: '',
    help: 'A PostgreSQL database; left out, SQLite in the data folder.',
    secret: true,
  },
  BASE_URL: someAddress('Public address of the Agent API; left out, /api of APP_URL.'),
  GATEWAY_URL: someAddress('Public address of the model gateway; left out, that of APP_URL.'),
  APP_URL: { ...site, initial: '', help: 'Public address of pages, and of parts without one.' },
  MCP_URL: someAddress('Public address of the MCP endpoint; left out, /mcp of APP_URL.'),
  APPS_URL: {
    ...site,
    initial: '',
    help: 'A host of its own for the sandbox frame, so that apps share no origin with this site.',
  },
  TRUSTED_PROXIES: {
    ...addresses,
    initial: '',
    help: 'Addresses that may set X-Forwarded-For, with commas between.',
  },
  PERSON_HEADER: {
    ...headerName,
    initial: '',
    help: 'A header by which those proxies say who is signed in; passwords are off then.',
  },
  OIDC_ISSUER: {
    ...issuer,
    initial: '',
    help: 'A provider of OpenID Connect by which people may sign in; needs OIDC_CLIENT_ID.',
  },
  OIDC_CLIENT_ID: someWords('The name of this place at that provider.'),
  OIDC_CLIENT_SECRET: secretWords('Its secret there; left out, it is a public client.'),
  OIDC_NAME: {
    ...words,
    initial: 'single sign-on',
    help: 'What people know the provider as: the button says "Sign in with" it.',
  },
  AGENTS_ON: { ...onOff, initial: 'on', help: 'Whether the Agent API is open.' },
  GAMES_ON: { ...onOff, initial: 'on', help: 'Whether games can be made.' },
  ASSETS_ON: { ...onOff, initial: 'on', help: 'Whether apps can have assets.' },
  PRICES_ON: { ...onOff, initial: 'on', help: 'Whether a remix may have a price.' },
  KEYS_OPEN: {
    ...oneOf('on', 'invite'),
    initial: 'on',
    help: "Who may make keys: anyone, or who holds the operator's token.",
  },
  OPERATOR_TOKEN: secretWords('The token that makes keys when KEYS_OPEN is invite.'),
  METRICS_TOKEN: secretWords('The token that reads GET /metrics; left out, there are no metrics.'),
  KEYS_PER_ADDRESS_DAY: rate('3', 'New keys a day from one address.'),
  KEYS_PER_DAY: rate('300', 'New keys a day in all.'),
  REQUESTS_PER_MINUTE: rate('240', 'Agent API requests a minute from one address.'),
  GATEWAY_REQUESTS_PER_MINUTE: rate('120', 'Gateway requests a minute from one address.'),
  START_CREDITS_ON_GATEWAY: {
    ...oneOf('auto', 'on', 'off'),
    initial: 'auto',
    help: 'Whether free credits of agents pay at the gateway; auto: while it has just demo models.',
  },
  GATEWAY_DEVELOPER_ROLE: {
    ...oneOf('refused', 'system'),
    initial: 'refused',
    help: 'What a chat message of the role developer is read as.',
  },
  PUBLISHES_PER_HOUR: rate('60', 'Pages and versions an agent publishes in an hour.'),
  BUILDS_PER_HOUR: rate('20', 'Builds an agent starts in an hour.'),
  DAILY_CAP_CREDITS: {
    ...wholeOrNone(1_000_000_000),
    initial: '',
    help: 'Credits a new key may spend in a day (UTC); left out, no cap; 0, nothing.',
  },
  BUILDER_MODEL: someWords(
    'The chat model that builds apps; demo/builder where only demo models are served.',
  ),
  GAME_BUILDER_MODEL: someWords('The chat model that builds games; left out, that of apps.'),
  FREE_SPEND_PER_DAY_USD: {
    ...amountUsd,
    initial: '5',
    help: 'USD of free credits that builds may cost in a day (UTC), of all agents; 0, none.',
  },
  BUILDER_BROWSER: {
    ...words,
    initial: 'auto',
    help: 'The Chromium that opens what was built before it is published: a path, auto or off.',
  },
  PAINTER_MODEL: someWords('The model that paints sprites and pictures.'),
  SPEAKER_MODEL: someWords('The model that speaks lines.'),
  SOUND_MODEL: someWords('The model that makes effects and music.'),
  EMBEDDED_MAKERS: {
    ...onOff,
    initial: 'on',
    help: 'Whether assets are made here where no model is chosen for them.',
  },
  EMBEDDED_ASSET_CREDITS: {
    ...whole(0, 100_000),
    initial: '0',
    help: 'What an asset costs that is made without a model.',
  },
  BYTES_PER_AGENT: {
    ...whole(0, 1_000_000_000_000),
    initial: '2000000000',
    help: 'Bytes of pages and assets one agent may keep; 0 is no limit.',
  },
  DISK_FLOOR_BYTES: {
    ...whole(0, 1_000_000_000_000_000),
    initial: '200000000',
    help: 'Free bytes on the disk under which nothing new is taken.',
  },
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
  OLLAMA_HOST: {
    takes: 'an address, or off',
    read: (text: string) => (text === 'off' ? '' : ollamaAddress(text)),
    initial: 'http://127.0.0.1:11434',
    help: 'An Ollama whose models are served, asked once at start; off does not ask.',
  },
  DEMO_MODELS: {
    ...oneOf('on', 'off', 'auto'),
    initial: 'auto',
    help: 'Whether the demo models are served; auto: while no other upstream is configured.',
  },
  SEARCH_ON: { ...onOff, initial: 'on', help: 'Whether chat models may search the web.' },
  SEARXNG_URL: someAddress('A SearXNG that searches the web; it must allow the format json.'),
  BRAVE_API_KEY: searchKey('Brave Search'),
  TAVILY_API_KEY: searchKey('Tavily'),
  EXA_API_KEY: searchKey('Exa'),
  SEARCH_PRICE_USD: {
    ...usd,
    initial: '0.005',
    help: 'What a web search costs with a model whose price has no per_search.',
  },
  MARGIN_PERCENT: {
    ...whole(0, 1_000),
    initial: '0',
    help: 'What is added to the price of every model, in percent.',
  },
  GATEWAY_FIRST_BYTE_SECONDS: seconds(
    '120',
    'Seconds an upstream has until the first byte of its answer.',
  ),
  GATEWAY_TOTAL_SECONDS: seconds('600', 'Seconds an upstream has for its whole answer.'),
  VIDEO_POLL_SECONDS: seconds('5', 'Seconds between two looks at a film that an upstream makes.'),
  USAGE_KEPT_DAYS: days('Days the history of what was used is kept; 0 keeps it for ever.'),
  SCAN_HOOK_URL: someAddress(
    'An address that is asked about every page and icon before it is shown, beside our own rules.',
  ),
  HOOKS_TO_PRIVATE: {
    ...onOff,
    initial: 'off',
    help: 'Whether webhooks may go to private addresses and to this machine.',
  },
  MODERATION_KEPT_DAYS: days(
    'Days reports, appeals and what was decided about them are kept; 0 keeps them for ever.',
  ),
} satisfies Record<string, Setting<unknown>>

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<S>

export type SettingName = keyof typeof settings

/** Where a value came from, in the order of who wins. */
export type Source = 'flag' | 'environment' | 'berth.toml' | 'default'

/** A setting with its value; of a secret that is only whether it is set. */
export interface ConfigRow {
  name: SettingName
  value: string
  source: Source
  help: string
}

/** All settings as one typed shape: `PORT` is `config.port`, `DATA_DIR` is `config.dataDir`. */
export type Config = {
  [K in SettingName as Camel<K>]: Exclude<ReturnType<(typeof settings)[K]['read']>, undefined>
} & {
  /** The tables `[[upstream]]` and `[[model]]` of berth.toml. */
  upstreams: UpstreamRow[]
  models: ModelRow[]
  /** Every setting as `berth config` shows it. */
  rows: ConfigRow[]
  /** What is allowed and may not be meant, one sentence each. */
  warnings: string[]
}
