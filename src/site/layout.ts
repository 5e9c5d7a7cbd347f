import { filesPath } from '../apps/viewer/pages.ts'
import type { Urls } from '../kernel/config/load.ts'
import type { Config } from '../kernel/config/settings.ts'
import { Html, html, type Part } from '../kernel/html.ts'
import {
  compressText,
  createEntity,
  createImmutableEntity,
  type Entity,
} from '../kernel/http/entity.ts'
import { pageHosts } from '../kernel/http/host.ts'
import { sha256 } from '../kernel/ids.ts'
import { getPublicFile, type PublicFile, readPublicText } from '../kernel/public-files.ts'
import { t, type Text } from '../kernel/words/message.ts'
import {
  currentLanguage,
  languageAttributes,
  languageCodes,
  languages,
  scriptWords,
} from '../kernel/words/words.ts'
import { type HeaderUser, renderHeader, type Section } from './header.ts'

/** Files under /static by name, with their paths in public/dist. */
const staticFiles = {
  'web.css': 'css/web.css',
  'packs.css': 'css/packs.css',
  'console.css': 'css/console.css',
  'playground.css': 'css/playground.css',
  'docs.css': 'css/docs.css',
  'try-operation.js': 'islands/try-operation.js',
  // The style sheet names them, so their names change with their contents.
  'geist-1.woff2': 'fonts/geist.woff2',
  'bricolage-1.woff2': 'fonts/bricolage.woff2',
  'rubik-arabic-1.woff2': 'fonts/rubik-arabic.woff2',
  'icon-192.png': 'icons/icon-192.png',
  'icon-512.png': 'icons/icon-512.png',
  'copy-line.js': 'islands/copy-line.js',
  'docs-values.js': 'islands/docs-values.js',
  'save-secret.js': 'islands/save-secret.js',
  'auto-refresh.js': 'islands/auto-refresh.js',
  'time-chart.js': 'islands/time-chart.js',
  'review-keys.js': 'islands/review-keys.js',
  'live-search.js': 'islands/live-search.js',
  'passkeys.js': 'islands/passkeys.js',
  'show-more.js': 'islands/show-more.js',
  'app-preview.js': 'islands/app-preview.js',
  'build-steps.js': 'islands/build-steps.js',
  'page-drop.js': 'islands/page-drop.js',
  'code-editor.js': 'islands/code-editor.js',
  'file-drop.js': 'islands/file-drop.js',
  'step-rows.js': 'islands/step-rows.js',
  'unsaved-changes.js': 'islands/unsaved-changes.js',
  'play-here.js': 'islands/play-here.js',
  'live-quay.js': 'islands/live-quay.js',
  'sharing.js': 'islands/sharing.js',
  'chat-playground.js': 'islands/chat-playground.js',
  'submit-guard.js': 'islands/submit-guard.js',
} as const

type StaticName = keyof typeof staticFiles

interface StaticFile {
  entity: Entity
  /** The URL with the hash of the content: browsers may cache it forever. */
  address: string
}

/** Everything that is common to all pages. */
export interface Layout {
  urls: Urls
  /** Texts that the operator may change. */
  config: Pick<Config, 'siteNotice'>
  /** Returns the host that pages name to the client of a request. */
  hostFor(request: Request): string | undefined
  files: ReadonlyMap<string, StaticFile>
  /** The inline script that applies the saved theme before the first paint. */
  theme: Html
  headers: Record<string, string>
  icon: Entity
}

/** Creates the layout. The CSP allows one inline script: the theme's. */
export function createLayout(
  files: ReadonlyMap<string, PublicFile>,
  { urls, config }: { urls: Urls; config: Layout['config'] & Pick<Config, 'appUrl'> },
): Layout {
  const script = readPublicText(files, 'islands/site.js')
  const icon = getPublicFile(files, 'icons/berth.svg')
  const hash = Buffer.from(sha256(script), 'hex').toString('base64')
  // Asset previews load from the API, which may have a host of its own.
  const api = new URL(urls.base).origin
  const sources = api === new URL(urls.app).origin ? "'self'" : `'self' ${api}`
  const csp =
    `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; font-src 'self'; manifest-src 'self'; ` +
    `img-src ${sources}; media-src ${sources}; ` +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  return {
    urls,
    config,
    hostFor: pageHosts(urls, config.appUrl !== ''),
    theme: new Html(`<script>${script}</script>`),
    files: new Map(
      Object.entries(staticFiles).map(([name, path]) => [
        name,
        createStaticFile(name, getPublicFile(files, path)),
      ]),
    ),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': csp,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
    icon: createEntity(icon, { 'content-type': icon.type, 'cache-control': 'max-age=86400' }),
  }
}

const createStaticFile = (name: string, file: PublicFile): StaticFile => ({
  entity: createImmutableEntity(file),
  address: `/static/${name}?h=${file.etag}`,
})

export interface Page {
  title: Text
  main: Html
  /** Its canonical path, such as "/explore/@ann". Pages without one are not indexed. */
  path?: string
  /** The navigation link to mark as current. */
  section?: Section
  /** The page has a search form of its own. */
  hasSearch?: boolean
  /** The page has its own link to make an app. */
  hasNew?: boolean
  /** The console and pages with a preview beside them use the full width. */
  isWide?: boolean
  description?: Text | undefined
  /** The path of its preview image. */
  image?: string | undefined
  /** The query of its Atom feed. */
  feed?: string
  scripts?: Extract<StaticName, `${string}.js`>[]
  /** Styles that few pages have, after those of all pages. */
  styles?: Extract<StaticName, `${string}.css`>[]
  /** Is true for a page that shows apps in the sandbox. */
  frames?: boolean
  /** Reloads the page at this interval where scripts are off. */
  reloadSeconds?: number
  /** Is true for a page that plays apps in place, each by its link. */
  plays?: boolean
  status?: number
  headers?: Record<string, string>
}

const meta = (property: string, content: string): Html =>
  html`<meta property="${property}" content="${content}" />`

/** The social card of a page, 1,200 x 630 pixels. */
const imageTags = (url: string): Html =>
  html`${meta('og:image', url)}${meta('og:image:width', '1200')}${meta('og:image:height', '630')}
    <meta name="twitter:card" content="summary_large_image" />`

function renderHead({ urls, files, theme }: Layout, page: Page): Part {
  const { path, image, feed, styles = [], scripts = [], reloadSeconds } = page
  // A string may be words of a person, which are no message.
  const title = String(page.title)
  const description = page.description && String(page.description)
  const addressOf = (name: StaticName): Part => files.get(name)?.address
  return html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover" />
    <title>${title === 'Berth' ? title : t('{title} · Berth', { title })}</title>
    ${new Html(scriptWords('scripts'))}${theme}
    ${reloadSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}" /></noscript>`}
    ${currentLanguage() === 'ar' && html`<link rel="preload" as="font" type="font/woff2" href="/static/rubik-arabic-1.woff2" crossorigin />`}
    ${['web.css' as const, ...styles].map((name) => html`<link rel="stylesheet" href="${addressOf(name)}" />`)}
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
    <link rel="apple-touch-icon" href="${addressOf('icon-192.png')}" />
    <link rel="manifest" href="/manifest.webmanifest" />
    ${[...new Set(scripts)].map((name) => html`<script defer src="${addressOf(name)}"></script>`)}
    ${description && html`<meta name="description" content="${description}" />`}
    ${path === undefined ? html`<meta name="robots" content="noindex" />` : html`<link rel="canonical" href="${urls.app}${path}" />${meta('og:url', urls.app + path)}`}
    ${meta('og:title', title)}${meta('og:site_name', 'Berth')}${meta('og:type', 'website')}${description && meta('og:description', description)}${image && imageTags(urls.app + image)}
    ${feed !== undefined && html`<link rel="alternate" type="application/atom+xml" title="${title}" href="${urls.base}/explore/feed.atom${feed}" />`}`
}

/** The languages of pages, each by its own name. A link chooses one for this browser. */
function languageLinks(): Part {
  const chosen = currentLanguage()
  return html`<nav class="languages" aria-label="Language">
    ${languageCodes.map((language) => {
      const { name, tag, dir } = languages[language]
      return html`<a
        href="/language/${language}"
        hreflang="${tag}"
        lang="${tag}"
        dir="${dir}"
        rel="nofollow"
        ${language === chosen && html` aria-current="true"`}
        >${name}</a
      >`
    })}
  </nav>`
}

function renderDocument(layout: Layout, page: Page, user?: HeaderUser): string {
  const {
    urls,
    config: { siteNotice },
  } = layout
  return html`<!doctype html>
    <html ${new Html(languageAttributes())}>
      <head>
        ${renderHead(layout, page)}
      </head>
      <body ${page.isWide && html` class="wide"`}>
        <a class="skip" href="#main">Skip to content</a>
        ${renderHeader(user, page)}
        ${siteNotice !== '' && html`<p class="site-notice" role="note"><bdi>${siteNotice}</bdi></p>`}
        <main id="main" tabindex="-1">${page.main}</main>
        <footer class="foot">
          <p>
            Apps, games, skills and frameworks by people and their agents. Apps and games run in a
            sandbox without network access.
          </p>
          <nav aria-label="Developers">
            <a href="/skill.md">For agents</a><a href="/docs/api">API</a
            ><a href="${urls.base}/openapi.json">OpenAPI</a><a href="/llms.txt">llms.txt</a
            ><a href="${urls.base}/explore/feed.atom">Feed</a>
          </nav>
          ${languageLinks()}<theme-switch></theme-switch>
        </footer>
      </body>
    </html> `.text
}

export interface RenderedPage {
  text: string
  status: number
  headers: Record<string, string>
}

/** The address of the sandbox wrapper: a path, unless apps have a host of their own. */
export const frameUrl = ({ app, apps }: Urls): string => (apps === app ? '/frame' : `${apps}/frame`)

/**
 * Returns the headers of a page that shows apps in the sandbox. Only the wrappers may be framed, so
 * that no app navigates its frame to another page of the site (docs/spec/sandbox.md).
 */
export function sandboxHeaders(
  { headers, urls, hostFor }: Layout,
  request: Request,
): Record<string, string> {
  const { app, apps } = urls
  const at = apps === app ? (hostFor(request) ?? new URL(app).host) : apps
  const source = `frame-src ${at}/frame ${at}${filesPath}`
  return { 'content-security-policy': `${headers['content-security-policy']}; ${source}` }
}

/** Renders a page that can be sent more than once. */
export const renderPage = (layout: Layout, page: Page, user?: HeaderUser): RenderedPage => ({
  text: renderDocument(layout, page, user),
  status: page.status ?? 200,
  headers: headersOf(layout, page),
})

const headersOf = ({ headers }: Layout, page: Page): Record<string, string> => ({
  ...headers,
  ...(page.plays && {
    'content-security-policy': `${headers['content-security-policy']}; frame-src 'self'`,
  }),
  ...page.headers,
  vary: [page.headers?.['vary'], 'accept-language, cookie'].filter(Boolean).join(', '),
})

export const renderedResponse = ({ text, ...init }: RenderedPage): Response =>
  new Response(text, init)

export const pageResponse = (layout: Layout, page: Page, user?: HeaderUser): Response =>
  renderedResponse(renderPage(layout, page, user))

/** Renders and compresses a popular page. Compression costs more than rendering. */
export const pageEntity = (layout: Layout, page: Page): Entity =>
  createEntity(compressText(renderDocument(layout, page)), headersOf(layout, page))
