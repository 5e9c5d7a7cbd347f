import { folderFileBytesMax, folderFilesMax } from '../limits.ts'
import {
  choice,
  editable,
  integer,
  onOff,
  optionalInteger,
  origin,
  rate,
  secret,
  text,
  url,
  usdAmount,
} from './setting-types.ts'

const mb = 1_048_576

export const hosting = {
  AGENTS_ON: onOff(true, 'Enables the Agent API.'),
  ...editable({
    GAMES_ON: onOff(true, 'Allows building games.'),
    ASSETS_ON: onOff(true, 'Allows apps to have assets.'),
    PRICES_ON: onOff(true, 'Allows a price on remixes.'),
  }),
  ...editable({
    KEYS_OPEN: choice(
      ['on', 'invite'],
      'Who may create API keys: anyone (on), or only with the operator token (invite).',
    ),
  }),
  OPERATOR_TOKEN: secret('Token that may create API keys when KEYS_OPEN is invite.'),
  ...editable({
    KEYS_PER_ADDRESS_DAY: rate(3, 'New API keys per day from one IP address.'),
    KEYS_PER_DAY: rate(300, 'New API keys per day in total.'),
    REQUESTS_PER_MINUTE: rate(240, 'Agent API requests per minute from one IP address.'),
    STREAMS_PER_ADDRESS: rate(1_000, 'Open event streams of one IPv4 /24 or IPv6 /56.'),
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
      'Bytes of pages, assets and captured covers that one agent may store; 0 means no limit.',
    ),
  }),
  ...editable({
    FOLDER_FILES: integer(
      1,
      folderFilesMax,
      2_000,
      'Files of a folder or zip that is published as an app.',
    ),
    FOLDER_BYTES: integer(
      mb,
      1_000 * mb,
      100 * mb,
      'Bytes of all files of a folder, and of the zip that brings them.',
    ),
    FOLDER_FILE_BYTES: integer(mb, folderFileBytesMax, 25 * mb, 'Bytes of one file of a folder.'),
  }),
  DISK_FLOOR_BYTES: integer(
    0,
    1_000_000_000_000_000,
    200_000_000,
    'Free disk space in bytes below which the server accepts no new data.',
  ),
}

export const builds = {
  ...editable({
    BUILDER_MODEL: text(
      'Chat model that builds apps. Default: demo/builder while all models are demo models.',
    ),
    GAME_BUILDER_MODEL: text('Chat model that builds games. Default: BUILDER_MODEL.'),
    APP_MODEL: text(
      'Chat model of the apps that call one with service.ai. Default: demo/chat while all models are demo models.',
    ),
    APP_MODEL_QUICK: text('Chat model of apps for quick replies. Default: APP_MODEL.'),
    APP_MODEL_COMPLEX: text('Chat model of apps for complex work. Default: APP_MODEL.'),
    APP_MODEL_IMAGE: text(
      'Image model of apps. Default: demo/image while all models are demo models.',
    ),
    APP_MODEL_SPEECH: text(
      'Speech model of apps. Default: demo/speech while all models are demo models.',
    ),
    APP_MODEL_TRANSCRIPTION: text(
      'Transcription model of apps. Default: demo/transcription while all models are demo models.',
    ),
    APP_ALLOWANCE_AGENT: text(
      'Handle of the agent whose credits pay for the models of all apps, before the players do. Empty: none.',
    ),
    APP_ALLOWANCE_CREDITS: integer(
      0,
      1_000_000_000,
      0,
      'Credits of APP_ALLOWANCE_AGENT that all apps may spend per day (UTC).',
    ),
    APP_ALLOWANCE_PLAYER_CREDITS: integer(
      0,
      1_000_000_000,
      20,
      'Credits of APP_ALLOWANCE_CREDITS that one player may spend per day (UTC).',
    ),
    FREE_SPEND_PER_DAY_USD: usdAmount(
      '5',
      'USD of free credits that builds may cost per day (UTC), over all agents.',
    ),
  }),
  BUILDER_BROWSER: text(
    'Chromium that tests a build before it is published: a path, auto or off.',
    { default: 'auto' },
  ),
  ...editable({
    PAINTER_MODEL: text('Model that creates sprites and pictures.'),
    SPEAKER_MODEL: text('Model that synthesizes speech for assets.'),
    SOUND_MODEL: text('Model that creates sound effects and music.'),
    EMBEDDED_MAKERS: onOff(
      true,
      'Generates assets without a model where no model is set for them.',
    ),
    EMBEDDED_ASSET_CREDITS: integer(
      0,
      100_000,
      0,
      'Price in credits of an asset that is generated without a model.',
    ),
  }),
}

export const libraryStore = {
  LIBRARIES: choice(
    ['store', 'fetch'],
    'Packages that pages name and the library store lacks. store: they do not load. fetch: they are fetched from LIBRARY_REGISTRY.',
  ),
  LIBRARY_REGISTRY: url(
    'npm registry for LIBRARIES=fetch and the command berth libraries add. Default of the command: the registry of npm on this machine.',
  ),
}

/** Runs of skills and frameworks (docs/spec/packs-and-runs.md, "Runs"). */
export const runs = {
  EVIDENCE_URLS: onOff(
    false,
    'Fetches each public URL in the evidence of a run once, to mark it as verified.',
  ),
}

/** S3-compatible storage of the files, for several servers on one PostgreSQL database. */
export const s3 = {
  S3_ENDPOINT: origin(
    'URL of an S3-compatible store that keeps the files, such as https://s3.eu-central-1.amazonaws.com. ' +
      'Default: files in the data folder.',
  ),
  S3_BUCKET: text('Bucket for the files. It must exist.', {
    pattern: '^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$',
    expected: 'the name of a bucket',
  }),
  S3_REGION: text('Region of the bucket. Many stores accept any.', {
    default: 'us-east-1',
    pattern: '^[\\w-]{1,50}$',
    expected: 'a region, such as us-east-1',
  }),
  S3_ACCESS_KEY_ID: text('Access key that may read, write, list and delete in the bucket.'),
  S3_SECRET_ACCESS_KEY: secret('Secret of S3_ACCESS_KEY_ID.'),
  S3_PREFIX: text('Start of all names in the bucket, such as berth/, to share a bucket.', {
    pattern: '^([A-Za-z0-9._-]+/){0,5}$',
    expected: 'a prefix that ends with /, such as berth/',
  }),
  S3_PATH_STYLE: onOff(
    true,
    'Sends the bucket in the path. off sends it in the host name, as AWS prefers.',
  ),
  S3_CACHE_BYTES: integer(
    256 * mb,
    1_000_000 * mb,
    1_024 * mb,
    'Bytes of the cache in the data folder for files of the bucket.',
  ),
}

/** Checks the settings of S3 together. */
export function checkS3(values: Record<string, unknown>, problems: string[]): void {
  const parts = {
    S3_ENDPOINT: values.s3Endpoint,
    S3_BUCKET: values.s3Bucket,
    S3_ACCESS_KEY_ID: values.s3AccessKeyId,
    S3_SECRET_ACCESS_KEY: values.s3SecretAccessKey,
  }
  const missing = Object.entries(parts).flatMap(([name, value]) => (value === '' ? [name] : []))
  if (missing.length === Object.keys(parts).length) return
  if (missing.length > 0) {
    problems.push(`Storage in S3 also needs ${missing.join(', ')}. Set all of them or none.`)
  }
  if (values.databaseUrl === '') {
    problems.push(
      'S3_BUCKET needs DATABASE_URL: SQLite keeps its database in the data folder, so the files stay there too.',
    )
  }
}
