import { Html, html } from '../../kernel/html.ts'
import { createImmutableEntity, type Entity } from '../../kernel/http/entity.ts'
import { getPublicFile, type PublicFile, readPublicText } from '../../kernel/public-files.ts'
import { escapeHtml } from '../../kernel/text.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { languageAttributes, scriptWords } from '../../kernel/words/words.ts'
import type { Knob } from '../knobs/knobs.ts'
import type { HostedApp } from './app-source.ts'
import { iconPath, manifestLinks } from './own-manifest.ts'
import { allow, embedCode, messageHeaders, sandbox } from './policy.ts'
import { sharingDialog } from './sharing.ts'

/** A script or a style inside a page, with its hash for the policy. */
interface Inline {
  text: string
  hash: string
}

/** Scripts and styles of the viewer's pages. */
export interface PageAssets {
  script: Inline
  style: Inline
  /** The modules that the script loads after it has started the app, by their paths. */
  modules: ReadonlyMap<string, Entity>
  latePath: string
  momentsPath: string
  /** The script and the style for an app that uses `service`, beside the others. */
  bridge: Inline
  bridgeStyle: Inline
  /** The script and the style for an app with knobs. */
  knobs: Inline
  knobsStyle: Inline
  messageStyle: Inline
  /** Refreshes the changing parts of a waiting page. */
  live: Inline
  /** The script of the page that installs an app. */
  install: Inline
  /** The script and the style of the page that makes a phone a controller. */
  controller: Inline
  controllerStyle: Inline
}

/** Path of the modules that the shell of every app loads. */
export const modulesPath = '/a/late/'

export function loadPageAssets(files: ReadonlyMap<string, PublicFile>): PageAssets {
  /** Reads files as one script or style. */
  const read = (...names: string[]): Inline => {
    const texts = names.map((name) => readPublicText(files, name))
    const text = texts.join('')
    return {
      text,
      hash: `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`,
    }
  }
  const style = 'frame/shell.css'
  const modules = new Map<string, Entity>()
  /** Adds a module, and returns its path. */
  const add = (name: string): string => {
    const file = getPublicFile(files, name)
    const path = `${modulesPath}${file.etag}.js`
    modules.set(path, createImmutableEntity(file))
    return path
  }
  return {
    script: read('frame/shell.js'),
    style: read(style),
    modules,
    latePath: add('frame/late.js'),
    momentsPath: add('moments/shell.js'),
    bridge: read('bridge/shell.js'),
    bridgeStyle: read('bridge/shell.css'),
    knobs: read('knobs/shell.js'),
    knobsStyle: read('knobs/shell.css'),
    messageStyle: read(style, 'frame/message.css'),
    live: read('islands/auto-refresh.js'),
    install: read('frame/install.js'),
    controller: read('bridge/controller.js'),
    controllerStyle: read(style, 'bridge/controller.css'),
  }
}

/** Returns the scripts and styles of a shell as its policy names them. */
export function shellSources(
  assets: PageAssets,
  { own, hasBridge, hasKnobs }: { own: string; hasBridge: boolean; hasKnobs: boolean },
) {
  const join = (...sources: (string | false)[]): string => sources.filter(Boolean).join(' ')
  return {
    scripts: join(
      hasBridge && assets.bridge.hash,
      assets.script.hash,
      hasKnobs && assets.knobs.hash,
      own + modulesPath,
    ),
    styleHash: join(
      assets.style.hash,
      hasBridge && assets.bridgeStyle.hash,
      hasKnobs && assets.knobsStyle.hash,
    ),
  }
}

const icon = (path: string): string =>
  `<svg viewBox="0 0 20 20" aria-hidden=true><path d="${path}"/></svg>`
const flag = icon('M5 17V3.5M5 4h9.5l-2 3.5 2 3.5H5')
const turn = icon('M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4')
const fork = icon('M4.5 3h3v3h-3zM12.5 3h3v3h-3zM8.5 14h3v3h-3zM6 6v1.5l4 2.5 4-2.5V6M10 10v4')
const arrow = icon('M10 12.5v-9M6.5 6.5 10 3l3.5 3.5M4.5 10v6.5h11V10')
const forward = icon('M5 4.5v11l7-5.5zM14.5 4.5v11')
const corners = icon('M7.5 3.5h-4v4M12.5 3.5h4v4M7.5 16.5h-4v-4M12.5 16.5h4v-4')
const speaker = icon(
  'M3.5 8v4h3l4 3.5v-11l-4 3.5zM13.5 7.5a3.5 3.5 0 0 1 0 5M15.5 5a7 7 0 0 1 0 10',
)
const clip = icon('M3.5 4.5h13v11h-13zM8.5 7.5v5l4-2.5z')
const sliders = icon('M3.5 6h6M13 6h3.5M11 4v4M3.5 14h3M10 14h6.5M8 12v4')
const cross = icon('M5.5 5.5l9 9M14.5 5.5l-9 9')
const dots = icon('M4.5 10v0M10 10v0M15.5 10v0')
const device = icon('M6 3h8v14H6zM9 14.5h2')

export const head = (title: string, style: string, more: string): string =>
  `<meta charset=utf-8><meta name=viewport content="width=device-width,initial-scale=1,viewport-fit=cover">
<meta name=theme-color content=#fdfdfc media="(prefers-color-scheme:light)"><meta name=theme-color content=#17191b media="(prefers-color-scheme:dark)">
<title>${escapeHtml(title)}</title>${more}<style>${style}</style>`

/** Returns Open Graph and oEmbed tags (https://ogp.me, https://oembed.com, section 4). */
function linkPreviewTags(
  { id, title, description, icon, maker, listed }: HostedApp,
  origin: string,
): string {
  const link = `${origin}/a/${id}`
  const oembed = `${origin}/oembed?url=${encodeURIComponent(link)}`
  const about = description || t('Made by {maker}.', { maker: `@${maker}` })
  const facts = { title, description: about, url: link, type: 'website', site_name: 'Berth' }
  // Only apps on Explore have a social card.
  const image = listed ? `${origin}/cards/${id}.jpg` : icon
  const all = Object.entries({ ...facts, ...(image !== null && { image }) })
  const metas = all.map(
    ([name, text]) => `<meta property=og:${name} content="${escapeHtml(text)}">`,
  )
  return `${metas.join('')}<meta name=twitter:card content=${listed ? 'summary_large_image' : 'summary'}>
<link rel=alternate type=application/json+oembed href="${escapeHtml(oembed)}" title="${escapeHtml(title)}">`
}

interface ShellOptions {
  at: string
  frame: string
  origin: string
  /** The app uses `service`. */
  hasBridge: boolean
  /** The app has files, libraries or scripts beside its HTML. */
  needsList: boolean
  /** The knobs of its page. */
  knobs: Knob[]
  /** The operator lets other sites show apps. */
  canEmbed: boolean
  kind: ShellKind
  /** The app takes what is shared with it, or has shortcuts: it reads `service.received`. */
  isReceiver: boolean
  canInstall: boolean
}

/**
 * The page of an app, that for frames of other sites, whose links open the app here and nothing
 * else, or that of an installed copy, which opens offline.
 */
export type ShellKind = 'page' | 'embed' | 'copy'

/** The title is also the accessible name, since a drawing has none. */
const button = (id: string, label: string, drawing: string, more = ''): string =>
  `<button id=${id} title="${escapeHtml(label)}"${more}>${drawing}</button>`
/** A drawing with its name, which stands beside it where there is space. */
const named = (drawing: string, name: string): string =>
  `${drawing}<span>${escapeHtml(name)}</span>`
/** A link of the bar or its menu. */
const link = (href: string, label: string, drawing: string, classes = ''): string =>
  `<a${classes} href="${href}" title="${escapeHtml(label)}">${named(drawing, label)}</a>`

const sound = (): string => button('sound', t('Mute'), speaker, ' aria-pressed=false')
const full = (): string => button('full', t('Full screen'), corners)
const controls = (): string => sound() + button('reload', t('Restart'), turn) + full()

/** The notice bar, in which the page around an app answers what the app asks for. */
const notice = (): string =>
  `<div id=notice popover=manual role=status><span id=message></span><button id=offer hidden></button><nav>${button('close', t('Close'), cross)}</nav></div>`

/** Returns the body of a view in a chat. Its script fills in the app. */
export const chatBody = (): string =>
  `<header><div id=who><h1 dir=auto></h1><bdi></bdi></div>
<nav>${controls()}${button('page', t('Open on its own page'), arrow)}</nav></header>
<main><p id=status role=status></p>${notice()}</main>`

/** A handle, which runs from left to right in every language. */
const handle = (maker: string): string => `<bdi>@${escapeHtml(maker)}</bdi>`

/** The bar of a frame on another site. */
function embedToolbar({ id, title, maker }: HostedApp): string {
  const name = `<h1 dir=auto>${escapeHtml(title)}</h1>`
  return `<header><div id=who><a href="/a/${id}" target=_blank rel=noopener title="${escapeHtml(t('Open on Berth'))}">${name}</a>${handle(maker)}</div>
<nav>${controls()}</nav></header><div id=edge></div>`
}

/** The bar of a copy, in which no link leads anywhere. */
const copyToolbar = ({ title, maker }: HostedApp): string =>
  `<header><div id=who><h1 dir=auto>${escapeHtml(title)}</h1><span>${handle(maker)} · ${escapeHtml(t('offline'))}</span></div>
<nav>${controls()}</nav></header><div id=edge></div>`

const toolbars = { page: toolbar, embed: embedToolbar, copy: copyToolbar }

/**
 * The bar above an app, which slides away while one plays. Its menu has what is rare, and what a
 * phone has no space for.
 */
function toolbar(app: HostedApp, { knobs, canInstall }: ShellOptions): string {
  const { id, listed } = app
  const title = `<h1 dir=auto>${escapeHtml(app.title)}</h1>`
  const maker = handle(app.maker)
  const name = listed ? `<a href="/explore/${id}">${title}</a>` : title
  const by = listed ? `<a href="/explore/@${escapeHtml(app.maker)}">${maker}</a>` : maker
  const links = (classes: string): [remix: string, next: string] => [
    app.remixable ? link(`/explore/${id}/remix`, t('Remix'), fork, classes) : '',
    listed ? link(`/explore/${id}/next`, t('Next'), forward, classes) : '',
  ]
  const [remix, next] = links(' class=wide')
  const tweak =
    knobs.length > 0
      ? button('tweak', t('Tweak'), named(sliders, t('Tweak')), ' aria-expanded=false')
      : ''
  const moment = named(clip, t('Moment'))
  const share = named(arrow, t('Share'))
  const menu = [
    ...links(' class=narrow'),
    `<button id=reload popovertarget=menu popovertargetaction=hide>${named(turn, t('Restart'))}</button>`,
    canInstall ? link(`/a/${id}/install`, t('Install'), device) : '',
    link(`/report/${id}`, t('Report this app'), flag),
  ]
  return `<header><div id=who>${name}${by}</div>
<nav>${button('moment', t('Moment (F2)'), moment, ' aria-keyshortcuts=F2 hidden')}${tweak}${remix}${button('share', t('Share'), share, ' popovertarget=sharing')}${sound()}${full()}${next}${button('more', t('More'), dots, ' popovertarget=menu')}</nav>
<div id=menu popover>${menu.join('')}</div></header><div id=edge></div>`
}

/** The share dialog of an app. */
const sharing = ({ id, title, embeds }: HostedApp, { origin, canEmbed }: ShellOptions): string => {
  const url = `${origin}/a/${id}`
  const code = canEmbed && embeds ? embedCode({ link: url, title }) : undefined
  return sharingDialog({ link: url, qr: `/a/${id}/qr.svg`, code }).text
}

/** Starts the requests of the script, which runs only after the first paint in Chromium. */
const preload = (at: string, needsList: boolean): string =>
  ['data', ...(needsList ? ['files'] : [])]
    .map((name) => `<link rel=preload as=fetch crossorigin href=${at}/${name}>`)
    .join('')

/** The knobs of a page, and the price of a remix where there may be one. */
function knobsData({ remixable, remixPrice = 0 }: HostedApp, { knobs, at }: ShellOptions): string {
  // A preview is not what a remix copies.
  const isKept = remixable && !at.includes('/versions/')
  return ` data-knobs="${escapeHtml(JSON.stringify(knobs))}"${isKept ? ` data-keep=${remixPrice}` : ''}`
}

/**
 * Renders the page around an app. It does not contain the app: its script fetches the app as data,
 * below the path `at`. The cover shows while the app loads.
 */
export function shellPage(app: HostedApp, options: ShellOptions, parts: PageAssets): string {
  const { at, frame, origin, hasBridge, kind } = options
  // The style in the head, and the script before the main one, which starts the app: until then the
  // wrapper answers each of them.
  const bridgeStyle = hasBridge ? `<style>${parts.bridgeStyle.text}</style>` : ''
  const bridge = hasBridge ? `<script>${parts.bridge.text}</script>` : ''
  const hasKnobs = options.knobs.length > 0
  const knobsStyle = hasKnobs ? `<style>${parts.knobsStyle.text}</style>` : ''
  const knobs = hasKnobs ? `<script>${parts.knobs.text}</script>` : ''
  const manifest = options.canInstall ? manifestLinks(app) : ''
  const title = escapeHtml(app.title)
  const maker = escapeHtml(app.maker)
  // No worker answers for a frame with this attribute. The policy of a copy's wrapper is a sandbox.
  const sandboxed = kind === 'copy' ? '' : ` sandbox="${sandbox}"`
  const poster = app.cover ? `<img id=poster src="${app.cover}" alt="">` : ''
  const words = scriptWords('frame', ...extraWords(kind, hasBridge, hasKnobs))
  return `<!doctype html><html ${languageAttributes()} data-at=${at} data-frame="${escapeHtml(frame)}" data-late=${parts.latePath}${kind === 'page' ? ` data-moments=${parts.momentsPath}` : ''} data-maker="@${maker}" data-version=${app.version}${options.needsList ? ' data-list' : ''}${options.isReceiver ? ' data-is-receiver' : ''}${hasKnobs ? knobsData(app, options) : ''}>
${head(t('{title} by {maker}', { title: app.title, maker: `@${app.maker}` }), parts.style.text, preload(at, options.needsList) + manifest + linkPreviewTags(app, origin) + bridgeStyle + knobsStyle)}
<body>${toolbars[kind](app, options)}
<main>${poster}<p id=status role=status><noscript>${escapeHtml(t('Apps need JavaScript. Turn it on to open this one.'))}</noscript></p><iframe title="${title}" src="${escapeHtml(frame)}"${sandboxed} allow="${allow}" referrerpolicy=no-referrer></iframe>
${notice()}</main>${kind === 'page' ? sharing(app, options) : ''}
${words}${bridge}${knobs}<script>${parts.script.text}</script>`
}

const extraWords = (
  kind: ShellKind,
  hasBridge: boolean,
  hasKnobs: boolean,
): ('moments' | 'bridge' | 'knobs')[] => [
  ...(kind === 'page' ? (['moments'] as const) : []),
  ...(hasBridge ? (['bridge'] as const) : []),
  ...(hasKnobs ? (['knobs'] as const) : []),
]

/**
 * Renders a page with one message: not found, taken down, being built. With `progress`, 0 to 1, the
 * page refreshes its progress bar by itself. It does not reload, so that screen readers do not
 * start over.
 */
export function messagePage(
  title: string,
  text: string,
  parts: PageAssets,
  { progress, links = '' }: { progress?: number | undefined; links?: string } = {},
): string {
  const waiting = {
    again: '<noscript><meta http-equiv=refresh content=3></noscript>',
    bar: `<auto-refresh data-seconds=3><progress value=${progress} aria-label="${escapeHtml(title)}"></progress></auto-refresh>`,
    script: `<script>${parts.live.text}</script>`,
  }
  const { again = '', bar = '', script = '' } = progress === undefined ? {} : waiting
  const body = `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${bar}<p><a href="/explore">${escapeHtml(t('Explore'))}</a>${links}</p>`
  return messageDocument({ title, body, more: again }, parts) + script
}

/** The mark of the site, as in public/icons/berth.svg. */
const mark =
  '<svg viewBox="0 0 32 32" aria-hidden=true><rect width=32 height=32 rx=7 /><path d="M7.5 7.5h8M11.5 7.5V25"/><circle cx=18 cy=19 r=6 /></svg>'

/** Renders a page in the style of messages. `more` is for its head. */
const messageDocument = (
  { title, body, more }: { title: string; body: string; more: string },
  parts: PageAssets,
): string => `<!doctype html><html ${languageAttributes()}>
${head(title, parts.messageStyle.text, more)}
<body><header><a class=brand href="/">${mark}Berth</a></header><main class=message>${body}</main>`

/** Returns the path of the page that installs the app at a path. It is in the scope of the app. */
export const installPath = (at: string): string => `${at}/install`

const menus = [
  [msg('Safari on iPhone and iPad'), msg('Share, then Add to Home Screen')],
  [msg('Safari on Mac'), msg('File, then Add to Dock')],
  [msg('Chrome and Edge'), msg('Menu, then Install or Add to home screen')],
  [msg('Firefox on Android'), msg('Menu, then Add to Home screen')],
] as const

/**
 * Renders the page that installs an app. The page of the app itself has only a link to it, and
 * loads no script for it.
 */
export function installPage(app: HostedApp, parts: PageAssets, hasCopy: boolean): Response {
  const at = `/a/${app.id}`
  const title = t('Install {title}', { title: app.title })
  const about = hasCopy
    ? html`<p>
          It opens like an app of its own, in full screen. Without a network it opens with what you
          saved in it. What it gets from this server, such as models, scores and shared data, needs
          the network.
        </p>
        <p id="copied" role="status"></p>`
    : html`<p>It opens like an app of its own, in full screen. It needs the network.</p>`
  const body = html`<img src="${iconPath(app, '192')}" alt="" width="96" height="96" />
    <h1>${title}</h1>
    ${about}
    <p id="done" role="status"></p>
    <p><button id="install" hidden>Install</button></p>
    <ul id="help">
      ${menus.map(([browser, menu]) => html`<li><b>${browser}</b><br />${menu}</li>`)}
    </ul>
    <p><a class="quiet" href="${at}">Open the app</a></p>
    ${new Html(scriptWords('frame'))}`.text
  const headers = messageHeaders(parts.messageStyle.hash, parts.install.hash)
  const policy = headers['content-security-policy'] ?? ''
  return new Response(
    messageDocument({ title, body, more: manifestLinks(app) }, parts) +
      `<script>${parts.install.text}</script>`,
    {
      headers: {
        ...headers,
        'content-security-policy': `${policy}; manifest-src 'self'; img-src 'self'; worker-src 'self'`,
      },
    },
  )
}
