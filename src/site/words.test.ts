import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'

import { IntlMessageFormat } from 'intl-messageformat'

import { readPublic, readPublicText } from '../kernel/public-files.ts'
import { type Catalog, openedWords, Words } from '../kernel/words/words.ts'
import {
  claimAgent,
  FormBrowser,
  signInOperator,
  signUp,
} from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

/** Marks a message as translated, except for the values in it. */
const marked = (message: string): string => `⟦${message.replace(/\{\w+\}/g, '⟧$&⟦')}⟧`

/** A catalog in which each message is translated by marks around it. */
function markedCatalog(): Catalog {
  const catalog: Catalog = JSON.parse(readPublicText(readPublic(), 'words/de.json'))
  for (const messages of Object.values(catalog)) {
    for (const message of Object.keys(messages)) messages[message] = marked(message)
  }
  return catalog
}

/** Names of products, units, codes, paths and settings, which no language translates. */
const untranslated = new RegExp(
  [
    String.raw`\b(?:Berth|GitHub|Ollama|Python|JavaScript|TypeScript|OpenAPI|API|MCP|HTML|URL|ID)\b`,
    String.raw`\b(?:USDC?|UTC|Mio|KB|MB|GB|ms|cr|p\d\d|[45]xx|mp3|wav|opus|flac|CSV|npm|curl)\b`,
    String.raw`\b(?:xAI|fal|Together|Z\.ai \(Zhipu\)|OpenAI|Anthropic|olga|OLGA)\b|llms\.txt`,
    // Models, keys, accounts, handles and settings.
    String.raw`\b(?:demo\b|Demo |ak_|person:|agent:).*|@[\w-]+|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`,
    String.raw`(?:\b(?:GET|POST)\b)?(?: ?/[\w:/.-]*)|\bGET\b|\bSKILL\.md|\b[23]xx\b`,
    // Values of settings, names of routes, and servers of models on this machine.
    String.raw`^(?:flag|system|refused|unknown path|Azure|Avian|Groq|Nebius|Novita)$`,
    // Providers of models, in a list.
    String.raw`^(?:Alibaba|Amazon|Azure|Google|NVIDIA|OVHcloud)\b.*|^Z\.ai.*|^(?:Baseten|Cerebras|Cohere)$`,
    String.raw`^(?:Deep(?:gram|Infra|Seek)|ElevenLabs|Fireworks|MiniMax|Mistral|Moonshot)$`,
    String.raw`^(?:OpenRouter|Perplexity|Replicate)$`,
  ].join('|'),
  'gm',
)

/** Elements whose text is of people, of programs or in a language of its own. */
const foreign =
  /<bdi\b[^>]*>(?:(?!<bdi\b).)*?<\/bdi>|<(code|pre|kbd|samp|script|style|svg|time|textarea)\b[^>]*>.*?<\/\1>|<(\w+)\b[^>]*\s(?:lang|translate)="[^"]*"[^>]*>.*?<\/\2\s*>/gs

/** Returns the words of a page that are in no message. */
function wordsOutside(page: string): string[] {
  // Elements of people can be inside each other.
  const body = [1, 2].reduce(
    (text) => text.replace(foreign, ' '),
    page.slice(page.indexOf('<body')),
  )
  const attributes = [
    ...body.matchAll(/\s(?:aria-label|title|alt|placeholder|data-label)="([^"]*)"/g),
  ].map(([, value = '']) => value)
  const title = /<title>([^<]*)/.exec(page)?.[1] ?? ''
  const texts = body.replace(/<[^>]*>/g, '\n').replace(/&#?\w+;/g, ' ')
  return [
    texts.replace(/⟦[^⟧]*⟧/g, ' '),
    ...[title, ...attributes].map((text) => text.replace(/⟦[^⟧]*⟧/g, ' ')),
  ]
    .flatMap((text) => text.split('\n'))
    .map((line) => line.trim().replace(untranslated, ' ').trim())
    .filter((line) => /\p{L}{2,}/u.test(line))
}

let t: TestServer
beforeAll(async () => {
  t = await startTestServer()
  openedWords.set('de', new Words('de', markedCatalog(), IntlMessageFormat))
})
afterAll(async () => {
  openedWords.delete('de')
  await t.close()
})

/** The paths of the pages around an app. */
const aroundApp = (id: string): string[] =>
  ['', '/install', '/controller', '/versions/1'].map((more) => `/a/${id}${more}`)

const pageWithKnobs =
  '<title>OLGA</title><meta name="berth:knob" content="name=speed; label=OLGA; type=range; min=1; max=9; step=1; value=3"><script>service.scores.submit(1)</script>'

/** Pages that are no pages of the site, or whose articles are English. */
const skipped =
  /^\/(?:a|f|api|static|v1|openapi|llms|skill|docs\/|explore\/feed|language)|\.(?:md|txt|json|csv|zip|gz|svg|png|atom)\b/

test('shows only words of the catalog on each page that links lead to', async () => {
  const ann = await t.agent('ann')
  const browser = await signInOperator(t)
  await claimAgent(browser, ann)
  const app = await ann.publish({ title: 'OLGA', store: true })
  const turned = await ann.publish({ title: 'OLGA', html: pageWithKnobs })
  const stranger = new FormBrowser(t)
  for (const one of [browser, stranger]) one.set('language', 'de')
  const outside: Record<string, string[]> = {}
  const visited = new Set<string>()
  for (const visitor of [stranger, browser]) {
    const paths = ['/', '/sign-in', '/sign-up', '/explore?q=x', '/nowhere', '/console']
    // The pages around apps.
    paths.push(...[app, turned, '000000000000'].flatMap(aroundApp))
    for (let at = 0; at < paths.length && at < 150; at += 1) {
      const path = paths[at] ?? ''
      const response = await visitor.open(path)
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue
      const page = String(response.body)
      visited.add(path)
      const words = wordsOutside(page)
      if (words.length > 0) outside[path] = words
      for (const href of shownPage(page).hrefs) {
        const to = href.replace('http://localhost:3000', '').replace(/#.*/, '')
        if (to.startsWith('/') && !skipped.test(to) && !paths.includes(to)) paths.push(to)
      }
    }
  }
  expect(visited.size).toBeGreaterThan(50)
  expect(outside).toEqual({})
}, 600_000)

test('keeps the language that a visitor chooses, and caches pages for each language', async () => {
  const visitor = new FormBrowser(t)
  expect(await visitor.read('/docs')).toContain('<html lang="en">')
  const chosen = await t.request('GET', '/language/de', {
    headers: { referer: 'http://localhost:3000/docs?q=x', host: 'localhost:3000' },
  })
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/docs?q=x'])
  expect(chosen.headers.getSetCookie()).toEqual([
    'language=de; Path=/; Max-Age=31536000; SameSite=Lax',
  ])
  const elsewhere = await t.request('GET', '/language/ar', {
    headers: { referer: 'https://evil.example/x' },
  })
  expect(elsewhere.headers.get('location')).toBe('/')
  // Browsers read "//evil.example/x" as the address of another site.
  const slashes = await t.request('GET', '/language/ar', {
    headers: { referer: 'http://localhost:3000//evil.example/x', host: 'localhost:3000' },
  })
  expect(slashes.headers.get('location')).toBe('/')
  for (const code of ['fr', 'toString']) {
    const unknown = await t.request('GET', `/language/${code}`)
    expect([unknown.status, unknown.headers.getSetCookie()]).toEqual([404, []])
  }

  visitor.set('language', 'ar')
  const page = await visitor.open('/docs')
  expect(String(page.body)).toContain('<html lang="ar" dir="rtl">')
  expect(page.headers.get('vary')).toContain('accept-language, cookie')
  expect(await new FormBrowser(t).read('/docs')).toContain('<html lang="en">')
  const german = new FormBrowser(t, undefined, { 'accept-language': 'de-AT, en;q=0.8' })
  expect(await german.read('/docs')).toContain('<html lang="de">')
  // A language without a catalog is not offered.
  const french = new FormBrowser(t, undefined, { 'accept-language': 'fr, en;q=0.8' })
  expect(await french.read('/docs')).toContain('<html lang="en">')
})

test('shows the words of people in the head of a page as they wrote them', async () => {
  const ann = await t.agent('ann-writes')
  const id = await ann.publish({ title: 'Settings', description: 'Settings', store: true })
  const headers = { cookie: 'language=de' }
  const item = String((await t.request('GET', `/explore/${id}`, { headers })).body)
  expect(item).toContain('<meta name="description" content="Settings" />')
  expect(item).toContain('<meta property="og:description" content="Settings" />')
  await ann.call('PATCH', '/me', { about: 'Settings' })
  const maker = String((await t.request('GET', '/explore/@ann-writes', { headers })).body)
  expect(maker).toContain('<meta name="description" content="Settings" />')
})

test('shows notes in the language of their reader, and in English to programs', async () => {
  const dora = await t.agent('dora-notes')
  const browser = await signUp(t, 'dora-reads')
  await claimAgent(browser, dora)
  const id = await dora.publish({ title: 'Boat', store: true })
  const { body } = await dora.call('GET', '/me/notes?kind=app.listed')
  expect(body).toMatchObject({ notes: [{ text: '“Boat” is on Explore.' }] })
  expect(await browser.read('/notifications')).toContain('“<bdi>Boat</bdi>” is on Explore.')
  browser.set('language', 'de')
  expect(await browser.read('/notifications')).toContain('⟦“⟧Boat⟦” is on Explore.⟧')
  expect(await browser.read('/agents/dora-notes')).toContain('⟦“⟧Boat⟦” is on Explore.⟧')
  expect(id).not.toBe('')
})

test('sends scripts around an app the words of their parts alone', async () => {
  const ann = await t.agent('ann-words')
  const plain = await ann.publish({ title: 'Plain' })
  const calls = await ann.publish({ title: 'Calls', html: pageWithKnobs })
  const wordsIn = async (id: string, headers: Record<string, string>) => {
    const page = String((await t.request('GET', `/a/${id}`, { headers })).body)
    const [, json = ''] =
      /<script type="application\/json" id="words">(.*?)<\/script>/.exec(page) ?? []
    return json
  }
  const german = { cookie: 'language=de' }
  const [words, more] = [await wordsIn(plain, german), await wordsIn(calls, german)]
  expect(words).toContain('A new version is ready.')
  expect(words).not.toContain('Not now')
  expect([more.includes('Not now'), more.includes('Keep as my remix')]).toEqual([true, true])
  // The second request is served from memory, and English pages have no words.
  expect(await wordsIn(plain, german)).toBe(words)
  expect([await wordsIn(plain, {}), await wordsIn(plain, {})]).toEqual(['', ''])
  const arabic = await t.request('GET', `/a/${plain}`, { headers: { 'accept-language': 'ar' } })
  expect(String(arabic.body)).toContain('<html lang="ar" dir="rtl"')
  expect(arabic.headers.get('vary')?.toLowerCase()).toContain('accept-language, cookie')
})

test('finds the same in the docs, whoever searches first', async () => {
  const search = (headers: Record<string, string>) =>
    t.request('GET', '/docs?q=meaning', { headers })
  await search({ cookie: 'language=de' })
  expect(String((await search({})).body)).not.toContain('⟦')
})

test('shows errors in the language of the page, and those of the API in English', async () => {
  const body = { html: '' }
  const headers = { cookie: 'language=de', accept: 'text/html' }
  const page = await t.request('GET', '/explore/AAAAAAAAAAAA', { headers })
  expect(shownPage(page.body).text).toContain('⟦')
  const api = await t.request('POST', '/api/keys', { headers: { cookie: 'language=de' }, body })
  expect(JSON.stringify(api.body)).not.toContain('⟦')
})

test('mirrors the styles of pages where a language runs from right to left', async () => {
  const sided = /(?:margin|padding|border)-(?:left|right)|(?:text-align|float): (?:left|right)/
  const root = join(import.meta.dir, '../../public/css')
  for (const name of new Bun.Glob('**/*.css').scanSync(root)) {
    const lines = (await Bun.file(join(root, name)).text()).split('\n')
    expect(lines.filter((line) => sided.test(line))).toEqual([])
  }
})

test('shows the code of an operation and amounts from left to right in Arabic', async () => {
  const visitor = new FormBrowser(t)
  visitor.set('language', 'ar')
  const page = await visitor.read('/docs/api/operations/publish_app')
  const headings = shownPage(page).names('heading')
  expect(headings).toContain('الأخطاء')
  expect(headings).toContain('الرد \u2068200\u2069')
  expect(page).toMatch(/<textarea class="code" name="json"/)
  expect(page).toContain('<ul class="fields" dir="ltr">')
  expect(await visitor.read('/catalogue')).toMatch(/\u2066[\d.]+\sUS\$\u2069/)
})

test('names months and units in Arabic, and loads a typeface for its letters there alone', async () => {
  const ann = await t.agent('mona')
  const id = await ann.publish({ title: 'Boat', store: true })
  const read = async (language: string): Promise<string> => {
    const headers = { 'accept-language': language }
    return String((await t.request('GET', `/explore/${id}`, { headers })).body)
  }
  const [arabic, spanish] = [await read('ar'), await read('es')]
  expect(shownPage(arabic).text).toMatch(/\d مايو \d{4}.*كيلوبايت/)
  expect(shownPage(arabic).names('link')).toContain('استكشاف')
  expect(shownPage(spanish).names('link')).toContain('Explorar')
  const [, path = ''] = /rel="preload" as="font"[^>]*href="([^"]+)"/.exec(arabic) ?? []
  expect((await t.request('GET', path)).status).toBe(200)
  expect(spanish).not.toContain('as="font"')
})
