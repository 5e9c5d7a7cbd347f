import { releases } from '../../../package.json'
import {
  addressList,
  choice,
  databaseUrl,
  editable,
  hostList,
  integer,
  issuer,
  onOff,
  origin,
  retentionDays,
  secret,
  secretUrl,
  text,
  url,
} from './setting-types.ts'

/** Options of a text that people read: one line. */
const siteText = (max: number) => ({
  maxLength: max,
  pattern: `^[^\\x00-\\x1f\\x7f]{0,${max}}$`,
  expected: `one line of at most ${max} characters`,
})

export const server = {
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
  DATABASE_DIRECT_URL: databaseUrl(
    'URL of the same PostgreSQL database without a pooler, when DATABASE_URL is a pooler in ' +
      'transaction mode such as PgBouncer. It is used for LISTEN and migrations.',
  ),
  STOP_DELAY_SECONDS: integer(
    0,
    60,
    0,
    'Seconds that a stopping server still answers while /readyz is 503, so that a load balancer ' +
      'stops sending requests.',
  ),
  METRICS_TOKEN: secret('Bearer token for GET /metrics. Without it there are no metrics.'),
}

/** `berth upgrade`. The defaults are those of the build: `releases` in package.json. */
export const upgrades = {
  RELEASES_URL: url('Address of the releases that berth upgrade installs.', releases.url),
  RELEASES_KEY: text(
    'Public Ed25519 key of the releases in base64, without which berth upgrade installs nothing.',
    {
      pattern: '^(?:[A-Za-z0-9+/]{43}=)?$',
      expected: '32 bytes in base64',
      default: releases.key,
    },
  ),
  RESTART_COMMAND: text(
    'Shell command with which berth upgrade restarts the server, such as systemctl restart berth.',
  ),
}

/** HTTPS without a proxy. The defaults of other settings follow HTTPS_HOSTS: see load.ts. */
export const https = {
  HTTPS_HOSTS: hostList(
    'Hosts that the server gets certificates for and serves over HTTPS, separated by commas: the first for pages and APIs, the second for the app sandbox.',
  ),
  HTTP_PORT: integer(
    1,
    65_535,
    80,
    'Port that leads http:// addresses to https://, where HTTPS_HOSTS is set.',
  ),
  ACME_DIRECTORY: text('Directory of the ACME server that issues certificates.', {
    pattern: '^https://[\\w.:/-]+$',
    expected: 'an https:// address',
    default: 'https://acme-v02.api.letsencrypt.org/directory',
  }),
  ACME_EMAIL: text('Address for messages of the ACME server about the certificates.', {
    pattern: '^([^\\s@]+@[^\\s@]+)?$',
    expected: 'an e-mail address',
  }),
}

/** Encrypted backups of SQLite that the server writes by itself. */
export const backups = {
  BACKUP_TO: text(
    'Folder, or s3://bucket/prefix, for encrypted backups of SQLite. Empty: the server writes none.',
  ),
  BACKUP_EVERY: text('Time between two backups in minutes, hours or days, such as 30m or 1h.', {
    pattern: '^[1-9]\\d{0,3}[mhd]$',
    expected: 'a time such as 30m, 1h or 1d',
    default: '1d',
  }),
  BACKUP_KEEP: text('The newest backups to keep of so many hours, days and weeks.', {
    pattern: '^[1-9]\\d{0,3}[hdw](,[1-9]\\d{0,3}[hdw]){0,5}$',
    expected: 'counts of hours, days and weeks such as 24h,7d,4w',
    default: '24h,7d,4w',
  }),
  BACKUP_PASSPHRASE: secret(
    'Passphrase of the backups, at least 12 characters. Nobody can open them without it, so keep it elsewhere, too.',
    { pattern: '^(.{12,1000})?$', expected: 'at least 12 characters' },
  ),
  BACKUP_S3_ENDPOINT: origin('URL of the S3-compatible store of s3:// in BACKUP_TO.'),
  BACKUP_S3_REGION: text('Region of that bucket.', {
    default: 'us-east-1',
    pattern: '^[\\w-]{1,50}$',
    expected: 'a region, such as us-east-1',
  }),
  BACKUP_S3_ACCESS_KEY_ID: text('Access key that may read, write, list and delete there.'),
  BACKUP_S3_SECRET_ACCESS_KEY: secret('Secret of BACKUP_S3_ACCESS_KEY_ID.'),
}

/** Checks the settings of backups together. */
export function checkBackups(values: Record<string, unknown>, problems: string[]): void {
  const to = String(values.backupTo)
  if (to === '') return
  if (values.databaseUrl !== '') problems.push('BACKUP_TO supports only SQLite. Use pg_dump.')
  if (values.backupPassphrase === '') problems.push('BACKUP_TO needs BACKUP_PASSPHRASE.')
  if (!to.startsWith('s3://')) return
  const parts = {
    BACKUP_S3_ENDPOINT: values.backupS3Endpoint,
    BACKUP_S3_ACCESS_KEY_ID: values.backupS3AccessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: values.backupS3SecretAccessKey,
  }
  const missing = Object.entries(parts).flatMap(([name, value]) => (value === '' ? [name] : []))
  if (missing.length > 0) problems.push(`BACKUP_TO in S3 also needs ${missing.join(', ')}.`)
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._-]+){0,5}\/?$/.test(to))
    problems.push('BACKUP_TO must be a folder or s3://bucket/prefix.')
}

export const publicUrls = {
  BASE_URL: url('Public URL of the Agent API. Default: /api of APP_URL.'),
  GATEWAY_URL: url('Public URL of the model gateway. Default: APP_URL.'),
  APP_URL: origin('Public URL of the web pages. Other public URLs default to it.'),
  MCP_URL: url('Public URL of the MCP endpoint. Default: /mcp of APP_URL.'),
  APPS_URL: origin(
    'Separate host for the app sandbox, so that apps share no origin with the site.',
  ),
  EMBED_ORIGINS: text(
    'Sites that may show apps in a frame: * for every site, origins separated by spaces, or none. Makers can turn it off for an app.',
    {
      pattern: '^(?:\\*|none|https?://[\\w.:-]+(?: https?://[\\w.:-]+)*)?$',
      expected: '*, none, or http:// or https:// origins separated by spaces',
      default: '*',
    },
  ),
  TRUSTED_PROXIES: addressList(
    'IP addresses of proxies that may set X-Forwarded-For, separated by commas.',
  ),
}

/** Texts of the web site. */
export const site = editable({
  SITE_NOTICE: text('Text at the top of every page, such as an announcement.', siteText(300)),
  HOME_TITLE: text('Large line at the top of the home page.', {
    ...siteText(80),
    default: 'Make an app or a game by describing it',
  }),
  HOME_TEXT: text('Text below the heading of the home page.', siteText(300)),
})

/** The operator's console. */
export const operatorConsole = {
  ...editable({
    SETUP_CHECKLIST: onOff(true, 'Shows the steps of setting up a server in the console.'),
  }),
  SETTINGS_KEY: text(
    'Encrypts secrets that are set in the console, the same for all servers of a database. Default: the file settings-secret of the data folder.',
    {
      secret: true,
      pattern: '^([A-Za-z0-9_-]{32,128})?$',
      expected: '32 to 128 letters, digits, hyphens or underscores',
    },
  ),
}

export const signIn = {
  ...editable({
    SIGN_UP: choice(
      ['on', 'off'],
      'Sign-up of people: open (on) or closed (off). Accounts that exist stay.',
    ),
  }),
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

export const safety = {
  SCAN_HOOK_URL: url(
    'URL that checks each page and icon before publication, after the built-in rules.',
  ),
  HOOKS_TO_PRIVATE: onOff(false, 'Allows webhooks to private addresses and to this machine.'),
  MODERATION_KEPT_DAYS: retentionDays('Days that reports, appeals and decisions are kept.'),
}

/** Alerts of the operator (docs/operating.md, "Alerts"). */
export const alerting = editable({
  ALERT_WEBHOOK_URL: secretUrl('URL that receives alerts as signed webhooks.'),
  ALERT_ERROR_PERCENT: integer(
    0,
    100,
    5,
    'Share of server errors in percent, over five minutes, from which on there is an alert. 0 is off.',
  ),
  ALERT_P95_MS: integer(
    0,
    600_000,
    30_000,
    'Milliseconds until responses begin, for the slowest 5 percent, from which on there is an alert. 0 is off.',
  ),
  ALERT_DISK_FREE_BYTES: integer(
    0,
    1_000_000_000_000_000,
    1_000_000_000,
    'Free disk space in bytes below which there is an alert. 0 is off.',
  ),
})

export const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'OpenTelemetry collector for traces and metrics by OTLP/HTTP, such as http://127.0.0.1:4318. Empty: off.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    'Headers for the collector, as name=value separated by commas; values are URL-encoded.',
  ),
  OTEL_SERVICE_NAME: text('Name of this server in traces and metrics.', { default: 'berth' }),
  OTEL_METRIC_EXPORT_SECONDS: integer(1, 3_600, 60, 'Seconds between two exports of metrics.'),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: onOff(
    false,
    'Adds prompts and responses of chats to traces. The collector then stores what people write.',
  ),
}
