import {
  choice,
  editable,
  integer,
  onOff,
  optionalInteger,
  rate,
  secret,
  text,
  url,
  usdAmount,
} from './setting-types.ts'

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
