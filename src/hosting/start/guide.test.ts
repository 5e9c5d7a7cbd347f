import { afterAll, beforeAll, expect, test } from 'bun:test'

import { type Answer, openTestHouse, type TestHouse } from '../../testing/house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openTestHouse()
})
afterAll(() => house.close())

const pixel = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

/** The words of a command line, as a shell reads them. */
function wordsOf(line: string, env: Record<string, string>): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }; ${line}`
  const { stdout } = Bun.spawnSync(['sh', '-c', script], { env })
  return stdout.toString().split('\0').slice(0, -1)
}

/** Does what a curl line of the guide says, through the front door. */
async function run(line: string, env: Record<string, string>): Promise<Answer> {
  const words = wordsOf(line, env)
  const after = (flag: string): string[] =>
    words.flatMap((word, at) => (word === flag ? [words[at + 1] ?? ''] : []))
  const headers = after('-H').map((header): [string, string] => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon), header.slice(colon + 1).trim()]
  })
  const url = new URL(words.find((word) => word.startsWith('http')) ?? '')
  const [data] = after('-d')
  const isFile = after('--data-binary').length > 0
  return house.visit(after('-sX')[0] ?? 'GET', url.pathname, {
    headers: Object.fromEntries(headers),
    ...(isFile ? { body: pixel } : data === undefined ? {} : { body: data }),
  })
}

test('the quickstart works as it is written', async () => {
  const guide = await house.call('GET', '/')
  const [make = '', publish = '', read = '', again = '', file = '', ...more] =
    JSON.stringify(guide.body)
      .match(/"curl":"(?:\\.|[^"\\])*"/g)
      ?.map((pair) => String(JSON.parse(`{${pair}}`).curl)) ?? []
  expect(more).toEqual([])

  const made = await run(make, {})
  expect(made.status).toBe(201)
  const KEY = made.text('key')
  const published = await run(publish, { KEY })
  expect(published.status).toBe(201)
  const ID = published.text('app.id')
  const link = new URL(published.text('app.link'))
  expect((await house.visit('GET', link.pathname)).status).toBe(200)
  expect((await run(read, { KEY, ID })).text('app.title')).toBe('Hello')
  expect((await run(again, { KEY, ID })).body).toMatchObject({ app: { version: 2 } })
  expect((await run(file, { KEY, ID })).body).toMatchObject({ asset: { type: 'image/png' } })
})

test('the index is JSON, and markdown for who asks for it', async () => {
  const json = await house.call('GET', '/')
  expect(json.headers.get('content-type')).toStartWith('application/json')
  expect(json.headers.get('vary')).toBe('accept')
  for (const name of ['base', 'gateway', 'mcp', 'docs', 'openapi', 'llms', 'skill']) {
    expect(json.text(`urls.${name}`)).toStartWith('http://localhost:3000')
  }
  const markdown = await house.call('GET', '/', { headers: { accept: 'text/markdown' } })
  expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(markdown.headers.get('vary')).toBe('accept')
  expect(String(markdown.body)).toContain(json.text('quickstart.1.curl'))
  expect((await house.call('GET', '/', { headers: { accept: '*/*' } })).body).toEqual(json.body)
})

test('agents find it at the top of the site', async () => {
  const llms = await house.visit('GET', '/llms.txt')
  expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(llms.body).toContain('# Berth')
  const skill = await house.visit('GET', '/skill.md')
  expect(String(skill.body)).toMatch(/^---\nname: [a-z-]{1,64}\ndescription: .{1,1024}\n---\n/)
  expect(skill.body).toContain('POST http://localhost:3000/api/keys')
})
