import { isIP } from 'node:net'

import type { ModelRow, UpstreamRow } from './providers.ts'

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

const whole = (min: number, max: number) => ({
  takes: `a whole number from ${min} to ${max}`,
  read: (text: string): number | undefined => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

const wholeOrNone = (max: number) => ({
  takes: `nothing, or ${whole(0, max).takes}`,
  read: (text: string): number | null | undefined =>
    text === '' ? null : whole(0, max).read(text),
})

const onOff = {
  takes: 'on or off',
  read: (text: string): boolean | undefined =>
    text === 'on' ? true : text === 'off' ? false : undefined,
}

const words = {
  takes: 'a text of at most 1,000 characters',
  read: (text: string): string | undefined => (text.length <= 1_000 ? text : undefined),
}

const addresses = {
  takes: 'addresses (no ranges) with commas between',
  read: (text: string): string[] | undefined => {
    const found = text.split(',').flatMap((part) => part.trim() || [])
    return found.every((part) => isIP(part) !== 0) ? found : undefined
  },
}

const host = {
  takes: 'an address or a name to listen on',
  read: (text: string): string | undefined => (/^[\w.:-]{1,253}$/.test(text) ? text : undefined),
}

const oneOf = <const T extends string>(...options: T[]) => ({
  takes: options.join(' or '),
  read: (text: string): T | undefined => options.find((option) => option === text),
})

/** An address without a slash at its end, or nothing. */
const address = {
  takes: 'an http:// or https:// address, without a query',
  read: (text: string): string | undefined => {
    if (text === '') return ''
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined
    return url.href.replace(/\/$/, '')
  },
}

const database = {
  takes: 'a postgres:// address, or nothing for SQLite in the data folder',
  read: (text: string): string | undefined =>
    text === '' || /^postgres(ql)?:\/\//.test(text) ? text : undefined,
}

/** As Ollama's own variable is written: "127.0.0.1" is http and its port 11434. */
function ollamaAddress(text: string): string | undefined {
  if (text.includes('://')) return address.read(text)
  return address.read(/:\d+$/.test(text) ? `http://${text}` : `http://${text}:11434`)
}

/** The key of a provider of models, which makes its catalogue ours to serve. */
const providerKey = (provider: string) => ({
  ...words,
  initial: '',
  help: `Key of ${provider}; with one its models are served.`,
  secret: true as const,
})

/** Reads are typed by the rows: `Config` below follows from them. */
export const settings = {
  PORT: { ...whole(0, 65_535), initial: '3000', help: 'Port to listen on; 0 takes a free one.' },
  HOST: { ...host, initial: '127.0.0.1', help: 'Address to listen on; 0.0.0.0 is every one.' },
  DATA_DIR: { ...words, initial: './data', help: 'Folder of the database and the files.' },
  DATABASE_URL: {
    ...database,
    initial: '',
    help: 'A PostgreSQL database; left out, SQLite in the data folder.',
    secret: true,
  },
  BASE_URL: { ...address, initial: '', help: 'Public address of the Agent API (default: /api).' },
  GATEWAY_URL: { ...address, initial: '', help: 'Public address of the model gateway.' },
  APP_URL: { ...address, initial: '', help: 'Public address of apps and maker pages.' },
  MCP_URL: { ...address, initial: '', help: 'Public address of the MCP endpoint (default: /mcp).' },
  APPS_URL: {
    ...address,
    initial: '',
    help: 'A host of its own for the sandbox frame, so that apps share no origin with this site.',
  },
  TRUSTED_PROXIES: {
    ...addresses,
    initial: '',
    help: 'Addresses that may set X-Forwarded-For, with commas between.',
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
  OPERATOR_TOKEN: {
    ...words,
    initial: '',
    help: 'The token that makes keys when KEYS_OPEN is invite.',
    secret: true,
  },
  KEYS_PER_ADDRESS_DAY: {
    ...whole(0, 1_000_000),
    initial: '3',
    help: 'New keys a day from one address.',
  },
  KEYS_PER_DAY: { ...whole(0, 1_000_000), initial: '300', help: 'New keys a day in all.' },
  REQUESTS_PER_MINUTE: {
    ...whole(0, 1_000_000),
    initial: '240',
    help: 'Agent API requests a minute from one address.',
  },
  GATEWAY_REQUESTS_PER_MINUTE: {
    ...whole(0, 1_000_000),
    initial: '120',
    help: 'Gateway requests a minute from one address.',
  },
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
  PUBLISHES_PER_HOUR: {
    ...whole(0, 1_000_000),
    initial: '60',
    help: 'Pages and versions an agent publishes in an hour.',
  },
  BUILDS_PER_HOUR: {
    ...whole(0, 1_000_000),
    initial: '20',
    help: 'Builds an agent starts in an hour.',
  },
  DAILY_CAP_CREDITS: {
    ...wholeOrNone(1_000_000_000),
    initial: '',
    help: 'Credits a new key may spend in a day (UTC); left out, no cap; 0, nothing.',
  },
  BYTES_PER_AGENT: {
    ...whole(0, 1_000_000_000_000),
    initial: '2000000000',
    help: 'Bytes of pages and assets one agent may keep; 0 is no limit.',
  },
  DISK_FLOOR_BYTES: {
    ...whole(0, 1_000_000_000_000_000),
    initial: '200000000',
    help: 'Free bytes on the disk under which nothing more is written.',
  },
  OPENAI_API_KEY: providerKey('OpenAI'),
  OPENROUTER_API_KEY: providerKey('OpenRouter'),
  GROQ_API_KEY: providerKey('Groq'),
  TOGETHER_API_KEY: providerKey('Together'),
  DEEPSEEK_API_KEY: providerKey('DeepSeek'),
  MISTRAL_API_KEY: providerKey('Mistral'),
  XAI_API_KEY: providerKey('xAI'),
  GEMINI_API_KEY: providerKey('Google Gemini'),
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
  MARGIN_PERCENT: {
    ...whole(0, 1_000),
    initial: '0',
    help: 'What is added to the price of every model, in percent.',
  },
  GATEWAY_FIRST_BYTE_SECONDS: {
    ...whole(1, 3_600),
    initial: '120',
    help: 'Seconds an upstream has until the first byte of its answer.',
  },
  GATEWAY_TOTAL_SECONDS: {
    ...whole(1, 86_400),
    initial: '600',
    help: 'Seconds an upstream has for its whole answer.',
  },
  USAGE_KEPT_DAYS: {
    ...whole(0, 36_500),
    initial: '400',
    help: 'Days the history of what was used is kept; 0 keeps it for ever.',
  },
} satisfies Record<string, Setting<unknown>>

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<S>

export type SettingName = keyof typeof settings

/** All settings as one typed shape: `PORT` is `config.port`, `DATA_DIR` is `config.dataDir`. */
export type Config = {
  [K in SettingName as Camel<K>]: Exclude<ReturnType<(typeof settings)[K]['read']>, undefined>
} & {
  /** The tables `[[upstream]]` and `[[model]]` of berth.toml. */
  upstreams: UpstreamRow[]
  models: ModelRow[]
}
