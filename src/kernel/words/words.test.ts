import { afterAll, beforeAll, expect, test } from 'bun:test'

import { IntlMessageFormat } from 'intl-messageformat'

import { html, prose } from '../html.ts'
import { languageOf } from '../http/accept.ts'
import { msg, t } from './message.ts'
import { inEnglish, inLanguage, type Messages, openedWords, Words } from './words.ts'

const pages: Messages = {
  'Read <a>the guide</a> first': 'Zuerst <a>den Leitfaden</a> lesen',
  'By {0}, {1} plays': '{1} Spiele, von {0}',
  'Remove {0}': '{0} entfernen',
  '<a>Yes</a> & not <a2>no</a2>': 'nicht <a2>nein</a2> & <a>ja</a>',
  Explore: 'Entdecken',
  'Version {version}': 'Fassung {version}',
  '{shown} apps': '{count, plural, one {{shown} App} other {{shown} Apps}}',
}
const inGerman = <Result>(work: () => Result) => inLanguage('de', work)

beforeAll(() => {
  const none = { scripts: {}, frame: {}, bridge: {}, knobs: {}, moments: {}, mcp: {} }
  openedWords.set('de', new Words('de', { pages, ...none }, IntlMessageFormat))
})
afterAll(() => openedWords.delete('de'))

test('translates the sentences of a template, with its elements and parts in any order', () => {
  const guide = html`<p>Read <a href="/docs" rel="help">the guide</a> first</p>`
  const item = (maker: string, count: number) =>
    html`<li>By <bdi>x</bdi>${maker}, ${count} plays</li>`
  const facts = html`<p>By ${'<ann>'}, ${3} plays</p>`
  const answers = html`<p><a href="/1">Yes</a> &amp; not <a href="/2">no</a></p>`
  expect(guide.text).toBe('<p>Read <a href="/docs" rel="help">the guide</a> first</p>')
  expect(inGerman(() => guide.text)).toBe(
    '<p>Zuerst <a href="/docs" rel="help">den Leitfaden</a> lesen</p>',
  )
  expect(inGerman(() => facts.text)).toBe('<p>3 Spiele, von &lt;ann&gt;</p>')
  expect(inGerman(() => answers.text)).toBe(
    '<p>nicht <a href="/2">nein</a> &amp; <a href="/1">ja</a></p>',
  )
  // A message without a translation stays English.
  expect(inGerman(() => item('ann', 3).text)).toBe('<li>By <bdi>x</bdi>ann, 3 plays</li>')
})

test('translates attributes that people read, and nothing that programs read', () => {
  const button = (name: string) =>
    html`<button name="Explore" title="Remove ${name}">${html`<i>Explore</i>`}</button>`
  expect(inGerman(() => button('a"b').text)).toBe(
    '<button name="Explore" title="a&quot;b entfernen"><i>Entdecken</i></button>',
  )
  const more = html` aria-label="Explore"`
  expect(inGerman(() => html`<nav ${more}><code>Explore</code></nav>`.text)).toBe(
    '<nav  aria-label="Entdecken"><code>Explore</code></nav>',
  )
  expect(inGerman(() => html` data-explore`.text)).toBe(' data-explore')
  expect(inGerman(() => prose`<p>Explore</p>`.text)).toBe('<p>Explore</p>')
})

test('leaves a title that is the name of a field of every object as it is', () => {
  for (const title of ['constructor', 'toString', '__proto__'])
    expect(inGerman(() => html`<h1>${t(title)}</h1>`.text)).toBe(`<h1>${title}</h1>`)
})

test('translates texts and constants in the language of the page', () => {
  const label = msg('Explore')
  const link = html`<a>${label}</a>`
  expect([t(label), link.text]).toEqual(['Explore', '<a>Explore</a>'])
  expect(inGerman(() => [t(label), link.text])).toEqual(['Entdecken', '<a>Entdecken</a>'])
  expect(t('Version {version}', { version: 1_234 })).toBe('Version 1234')
  expect(inGerman(() => t('Version {version}', { version: 1_234 }))).toBe('Fassung 1234')
  expect(inGerman(() => t('{shown} apps', { count: 1, shown: '1' }))).toBe('1 App')
  expect(inGerman(() => t('Other {name}', { name: label }))).toBe('Other Entdecken')
  expect(inGerman(() => inEnglish(() => t(label)))).toBe('Explore')
})

test('chooses the language of a cookie before that of the browser', () => {
  const of = (headers: Record<string, string>) =>
    languageOf(new Request('http://localhost/', { headers }))
  expect(of({})).toBe('en')
  expect(of({ 'accept-language': 'fr, en;q=0.5' })).toBe('en')
  expect(of({ cookie: 'berth=x; language=ar', 'accept-language': 'en' })).toBe('ar')
  expect(of({ 'accept-language': 'en;q=0.1, de' })).toBe('de')
  expect(of({ 'accept-language': 'en-US, de;q=0.9' })).toBe('en')
  expect(of({ cookie: 'language=fr', 'accept-language': 'de' })).toBe('de')
  expect(of({ 'accept-language': 'fr, es;q=0.5' })).toBe('es')
  expect(of({ cookie: 'language=toString' })).toBe('en')
})
