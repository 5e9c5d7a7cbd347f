/** Behavior that operators and scripts rely on: commands, exit codes, output, signals. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { boundByModes } from '../fixtures/bound-by-modes.ts'
import { startBinary } from '../processes/binary.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'
import { until } from '../until.ts'

let dir = ''
let data = ''
let servers: ServerProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-operating-'))
  data = join(dir, 'data')
})
afterEach(async () => {
  for (const ctx of servers) ctx.kill('SIGKILL')
  await Promise.all(servers.map((ctx) => ctx.exited))
  servers = []
  rmSync(dir, { recursive: true })
})

async function serve(env: Record<string, string> = {}): Promise<ServerProcess> {
  const ctx = await startServerProcess(data, { env })
  servers.push(ctx)
  return ctx
}

const oneLine = /^[^\n]+\n$/
/** Expects a command to fail with this one line on stderr and nothing on stdout. */
async function expectRejected(words: string[], says: RegExp, start = {}): Promise<void> {
  const { code, out, err } = await runBerth(words, start)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(oneLine)
  expect(err).toMatch(says)
}

const portOf = ({ origin }: ServerProcess): string => new URL(origin).port

test('grant works with and without a running server, and explains errors', async () => {
  const ctx = await serve()
  const key = await ctx.newKey()
  const me: unknown = await (await ctx.call('GET', '/api/me', key)).json()
  const handle = `@${textAt(me, 'handle')}`
  const grant = (...words: string[]) => runBerth(['grant', ...words, '--data', data])
  expect(await grant(handle, '5')).toEqual({
    code: 0,
    out: `${handle} has 5400 credits now.\n`,
    err: '',
  })
  await expectRejected(
    ['grant', '@nobody-here', '5', '--data', data],
    /No agent, person or gateway account has this name/,
  )
  await expectRejected(['grant', handle, '-5', '--data', data], /./)
  await expectRejected(['grant', handle, 'much', '--data', data], /Enter USD as a number/)
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
  expect((await grant(handle, '0.01')).out).toBe(`${handle} has 5410 credits now.\n`)
  expect(await runBerth(['doctor', '--data', data])).toMatchObject({ code: 0, err: '' })
}, 60_000)

test('every command ends its last line, and a slow reader gets all output', async () => {
  const ctx = await serve()
  const port = ['--port', portOf(ctx)]
  const flags = ['--data', data]
  const commands = [
    ['version'],
    ['--version'],
    ['help'],
    ['--help'],
    [],
    ['config', ...flags],
    ['doctor', ...flags],
    ['link', ...flags],
    ['health', ...port, ...flags],
    ['admin', 'reports', ...flags],
  ]
  for (const words of commands) {
    const { code, out, err } = await runBerth(words)
    expect([words, code, err]).toEqual([words, 0, ''])
    expect(out).toEndWith('\n')
    expect(out).not.toEndWith('\n\n')
  }
  expect(await runBerth(['harbour'])).toEqual({
    code: 1,
    out: '',
    err: "Unknown command 'harbour'. See: berth help.\n",
  })
  expect((await runBerth(['sreve'])).err).toBe("Unknown command 'sreve'. Did you mean serve?\n")
  await expectRejected(['version', '--loud'], /--loud/)

  // More than a pipe holds (64 KB), so the command must wait for its reader.
  const env = { TRUSTED_PROXIES: Array.from({ length: 12_000 }, () => '10.0.0.1').join(',') }
  const slow = '"$@" | (sleep 0.5; cat)'
  const config = ['config', '--data', data]
  const whole = await runBerth(config, { env })
  expect(whole.out.length).toBeGreaterThan(100_000)
  const late = await runBerth(config, { env, under: ['/bin/sh', '-c', slow, 'sh'] })
  expect(late.out).toBe(whole.out)
}, 60_000)

test('with --json, commands print fields that programs read', async () => {
  const ctx = await serve()
  const key = await ctx.newKey()
  const handle = textAt(await (await ctx.call('GET', '/api/me', key)).json(), 'handle')
  const read = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await runBerth([...words, '--json', '--data', data])
    expect([words, code, err]).toEqual([words, 0, ''])
    return JSON.parse(out)
  }
  expect(await read('config')).toEqual({
    settings: expect.arrayContaining([
      expect.objectContaining({ name: 'DATA_DIR', value: data, source: 'flag' }),
    ]),
    warnings: [],
  })
  expect(await read('doctor')).toEqual({
    ok: true,
    facts: expect.arrayContaining([expect.stringContaining('The ledger is sound')]),
    problems: [],
  })
  expect(await read('link')).toEqual({ link: ctx.origin })
  expect(await read('grant', `@${handle}`, '5')).toEqual({ name: `@${handle}`, credits: 5_400 })
  const made = await read('keys', 'add', `@${handle}`, 'name=ci')
  expect(made).toMatchObject({ name: 'ci', api_key: expect.stringMatching(/^ak_/) })
  expect(await read('keys', 'list', `@${handle}`)).toMatchObject({
    keys: expect.arrayContaining([expect.objectContaining({ id: textAt(made, 'id'), name: 'ci' })]),
  })
  const zip = join(dir, 'agent.zip')
  expect(await read('export', `@${handle}`, zip)).toEqual({
    handle,
    file: zip,
    bytes: statSync(zip).size,
  })
}, 60_000)

test('health exits 0 while the server responds, otherwise 1 with one line', async () => {
  const ctx = await serve()
  const words = ['health', '--port', portOf(ctx), '--data', data]
  expect(await runBerth(words)).toEqual({ code: 0, out: 'ok\n', err: '' })
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
  await expectRejected(words, /No response from http/)
}, 60_000)

test('a folder and a port have one owner each', async () => {
  const ctx = await serve()
  await expectRejected(['serve', '--port', '0', '--data', data], /Another Berth is running/)
  const other = join(dir, 'other')
  const port = portOf(ctx)
  await expectRejected(['serve', '--port', port, '--data', other], new RegExp(`Port ${port} on`))
  await expectRejected(['restore', join(dir, 'none'), '--data', other], /is not a complete backup/)
  expect(await runBerth(['backup', join(dir, 'copy'), '--data', data])).toMatchObject({ code: 0 })
  const twoFolders = ['restore', join(dir, 'copy'), join(dir, 'other'), '--data', data]
  await expectRejected(twoFolders, /usage: berth restore/)
  await expectRejected(['restore', join(dir, 'copy'), '--data', data], /Another Berth is running/)
  expect((await ctx.call('GET', '/healthz')).status).toBe(200)
}, 60_000)

/**
 * Starts an upload of which `more` is still to come. Returns a function to send the rest, and the
 * response.
 */
async function slowUpload(
  ctx: ServerProcess,
  key: string,
  path: string,
  first: string,
  more: string,
) {
  const { port } = new URL(ctx.origin)
  const socket = connect(Number(port), '127.0.0.1')
  const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
    begun.resolve()
  })
  socket.on('close', () => closed.resolve(received))
  socket.on('error', () => closed.resolve(received))
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
    `Content-Length: ${first.length + more.length}`,
    '',
    first,
  ]
  socket.write(head.join('\r\n'))
  await begun.promise
  return { finish: () => socket.write(more), closed: closed.promise }
}

test('SIGTERM finishes a running upload, accepts nothing new and exits 0', async () => {
  const ctx = await serve()
  const key = await ctx.newKey()
  const idle = connect(Number(portOf(ctx)), '127.0.0.1')
  idle.on('error', () => {})
  const body = JSON.stringify({ html: '<title>Slow</title>'.padEnd(300_000, ' lamp'), title: 'S' })
  const upload = await slowUpload(ctx, key, '/api/apps', body.slice(0, 90_000), body.slice(90_000))
  ctx.kill('SIGTERM')
  await until(() =>
    ctx.call('GET', '/healthz').then(
      () => false,
      () => true,
    ),
  )
  upload.finish()
  const received = await upload.closed
  expect(received).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201/)
  expect(await ctx.exited).toBe(0)
  idle.destroy()

  const again = await serve()
  const list: unknown = await (await again.call('GET', '/api/apps', key)).json()
  expect(textAt(list, 'apps.0.title')).toBe('S')
  expect(readdirSync(data)).toContain('control.sock')
  again.kill('SIGTERM')
  expect(await again.exited).toBe(0)
  expect(readdirSync(data)).not.toContain('control.sock')
}, 60_000)

test('a read-only data folder fails with one clear line', async () => {
  const shut = /cannot be written to/
  mkdirSync(data, { mode: 0o555 })
  await expectRejected(['serve', '--port', '0', '--data', data], shut, { under: boundByModes })
  expect(readdirSync(data)).toEqual([])
  const inside = join(data, 'deeper/folder')
  await expectRejected(['serve', '--port', '0', '--data', inside], shut, { under: boundByModes })
  writeFileSync(join(dir, 'letter'), 'mine')
  await expectRejected(['serve', '--port', '0', '--data', join(dir, 'letter')], shut)

  chmodSync(data, 0o755)
  const first = await serve()
  first.kill('SIGTERM')
  await first.exited
  for (const path of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    chmodSync(join(data, path), path === 'files' || path === 'files/tmp' ? 0o555 : 0o444)
  }
  chmodSync(data, 0o555)
  await expectRejected(['serve', '--port', '0', '--data', data], shut, { under: boundByModes })
  await expectRejected(['doctor', '--data', data], shut, { under: boundByModes })
  chmodSync(data, 0o755)
}, 60_000)

test('only the owner can read files in a data folder that others can enter', async () => {
  mkdirSync(data, { mode: 0o755 })
  await (await serve()).newKey()
  const copy = join(dir, 'copy')
  expect(await runBerth(['backup', copy, '--data', data])).toMatchObject({ code: 0 })
  const open = [data, copy].flatMap((folder) =>
    readdirSync(folder).filter((name) => statSync(join(folder, name)).mode & 0o077),
  )
  expect(open).toEqual([])
}, 60_000)

test('a command finds its server with a long path to the data folder', async () => {
  data = join(dir, 'x'.repeat(100), 'y'.repeat(100))
  mkdirSync(join(data, '..'))
  await serve()
  expect((await runBerth(['doctor', '--data', data])).out).toContain('sound')
}, 60_000)

test('a command on an empty folder creates nothing', async () => {
  for (const words of [['doctor'], ['backup', join(dir, 'copy')], ['grant', '@ann', '1']]) {
    await expectRejected([...words, '--data', data], /There is no database in /)
  }
  expect(readdirSync(dir)).toEqual([])
}, 60_000)

test('--json prints one line of JSON, and the log stays off stdout', async () => {
  const child = startBinary(['serve', '--json', '--port', '0', '--data', data], dir)
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  const line = new TextDecoder().decode(value)
  const { origin, pid } = JSON.parse(line)
  expect(pid).toBe(child.pid)
  await fetch(`${origin}/api`)
  child.kill('SIGTERM')
  expect((await reader.read()).done).toBe(true)
  expect(line).toMatch(oneLine)
  expect(await child.exited).toBe(0)
}, 60_000)
