import { expect, test } from 'bun:test'

import { scan } from '../scan.ts'

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
  ['words in its place', 'sk-your-api-key-goes-here-please-and-thank-you'],
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
