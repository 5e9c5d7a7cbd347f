import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type CodeRequest, requestCode } from './request-code.ts'

/** The requests that arrived. */
const arrived: object[] = []
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const type = request.headers.get('content-type') ?? ''
    const isForm = type.startsWith('multipart/')
    const form = isForm ? Object.fromEntries(await request.formData()) : {}
    const fields = await Promise.all(
      Object.entries(form).map(async ([name, value]) => [
        name,
        typeof value === 'string' ? value : await value.text(),
      ]),
    )
    arrived.push({
      method: request.method,
      key: request.headers.get('authorization'),
      body: isForm ? Object.fromEntries(fields) : await request.text(),
    })
    return new Response('ok')
  },
})
const folder = mkdtempSync(join(tmpdir(), 'berth-code-'))
await Bun.write(join(folder, 'file'), 'bytes')
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

const url = `http://127.0.0.1:${server.port}/v1/x?q=a%20b`
const quote = `it's "fine" $HOME`
const form = { grant_type: 'code', code: quote }

const cases: [kind: string, request: CodeRequest, body: unknown][] = [
  ['no body', { method: 'GET', url, hasKey: false }, ''],
  ['JSON', { method: 'PATCH', url, hasKey: true, json: JSON.stringify({ a: quote, b: null }) }, ''],
  ['a form', { method: 'POST', url, hasKey: false, form }, `${new URLSearchParams(form)}`],
  ['a file', { method: 'PUT', url, hasKey: true, file: 'file' }, 'bytes'],
  [
    'a multipart form with a file',
    { method: 'POST', url, hasKey: true, multipart: { model: 'm', file: '@file' } },
    { model: 'm', file: 'bytes' },
  ],
]

test.each(cases)('curl and TypeScript send %s as it is', async (_, request, given) => {
  const body = request.json === undefined ? given : JSON.parse(request.json)
  const key = request.hasKey ? 'Bearer secret' : null
  const env = { PATH: Bun.env.PATH ?? '', KEY: 'secret' }
  await Bun.write(join(folder, 'send.ts'), requestCode('typescript', request))
  for (const command of [
    ['sh', '-c', requestCode('curl', request)],
    [process.execPath, 'send.ts'],
  ]) {
    arrived.length = 0
    const child = Bun.spawn(command, { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' })
    expect(await child.stdout.text()).toContain('ok')
    const [{ body: sent, ...rest } = { body: '' }] = arrived.map((one) => Object(one))
    expect(rest).toEqual({ method: request.method, key })
    expect(request.json === undefined ? decoded(sent) : JSON.parse(sent)).toEqual(decoded(body))
  }
})

/** Returns a form without the difference of "+" and "%20". */
const decoded = (body: unknown): unknown =>
  typeof body === 'string' ? body.replaceAll('%20', '+') : body

test('Python reads the key from the environment, and opens files', () => {
  const [, json = '', formCode = '', file = '', multipart = ''] = cases.map(([, request]) =>
    requestCode('python', request),
  )
  expect(json).toContain('headers={"authorization": "Bearer " + os.environ["KEY"]}')
  expect(json).toContain(`"b": None`)
  expect(formCode).toContain('data={')
  expect(file).toContain('content=open("file", "rb")')
  expect(multipart).toContain('files={"file": open("file", "rb")}')
})

test('a text that is no JSON is sent as it is', () => {
  const request = { method: 'POST', url, hasKey: false, json: '{"a": ' }
  expect(requestCode('typescript', request)).toContain(String.raw`body: "{\"a\": "`)
  expect(requestCode('python', request)).toContain(String.raw`content="{\"a\": "`)
})
