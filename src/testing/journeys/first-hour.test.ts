import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { readUntil, startBinary } from '../processes/binary.ts'

type Child = ReturnType<typeof startBinary>

let folder = ''
let children: Child[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-hour-'))
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map((child) => child.exited))
  children = []
  rmSync(folder, { recursive: true })
})

function start(words: string[]): Child {
  const child = startBinary(words, folder)
  children.push(child)
  return child
}

const serve = () => start(['serve', '--port', '0'])
const lastLine = /^echo .*\n/m
const linkIn = (output: string): string => /play +(\S+)/.exec(output)?.[1] ?? ''

async function stop(child: Child): Promise<number> {
  child.kill('SIGTERM')
  return child.exited
}

test('the binary alone serves a game, and prints three lines that work when pasted', async () => {
  const ctx = serve()
  const output = await readUntil(ctx, lastLine)
  for (const name of ['base_url', 'gateway_url', 'mcp_url', 'docs']) {
    expect(output).toMatch(new RegExp(`${name} +http`))
  }
  for (const name of ['base_url', 'docs']) {
    const [, url = ''] = new RegExp(`${name} +(\\S+)`).exec(output) ?? []
    expect((await fetch(url)).status).toBe(200)
  }

  const game = await fetch(linkIn(output))
  expect(game.status).toBe(200)
  expect(await game.text()).toContain('Lampkeeper')

  const lines = output.split('\n').filter((line) => /^(KEY|LINK|echo)\b/.test(line))
  expect(lines).toHaveLength(3)
  const shell = Bun.spawnSync(['sh', '-c', lines.join('\n')])
  const [link = '', ...page] = shell.stdout.toString().split('\n')
  expect(link).toMatch(/\/a\/[A-Za-z0-9_-]{12}$/)
  expect(page.join('\n')).toContain('Hello')

  expect(await stop(ctx)).toBe(0)
  // The binary's own requests count toward no limit.
  expect(await ctx.stderr.text()).not.toContain('this process')
})

test('a restarted server shows the same game and publishes no other', async () => {
  const first = serve()
  const link = linkIn(await readUntil(first, lastLine))
  expect(await stop(first)).toBe(0)

  const again = serve()
  const output = await readUntil(again, lastLine)
  expect(new URL(linkIn(output)).pathname).toBe(new URL(link).pathname)
  expect((await fetch(linkIn(output))).status).toBe(200)
  expect(await stop(again)).toBe(0)
})

test('a second process on the same data prints one line with the link', async () => {
  const link = linkIn(await readUntil(serve(), lastLine))

  const second = serve()
  const complaint = await second.stderr.text()
  expect(await second.exited).not.toBe(0)
  expect(complaint.trim().split('\n')).toHaveLength(1)
  expect(complaint).toContain(link)
})

test('a port in use, even by another Berth, fails with one line', async () => {
  const holder = start(['serve', '--port', '0', '--json', '--data', 'other'])
  const { port } = new URL(JSON.parse(await readUntil(holder, /\n/)).origin)

  const ctx = start(['serve', '--port', port])
  const complaint = await ctx.stderr.text()
  expect(await ctx.exited).not.toBe(0)
  expect(complaint.trim().split('\n')).toHaveLength(1)
  expect(complaint).toContain(port)
})

test('--json prints one line of JSON and nothing else', async () => {
  const ctx = start(['serve', '--port', '0', '--json'])
  const output = await readUntil(ctx, /\n/)
  const ready: Record<string, unknown> = JSON.parse(output)
  expect(Object.keys(ready).sort()).toEqual(
    ['appUrl', 'baseUrl', 'gatewayUrl', 'mcpUrl', 'operatorUrl', 'origin', 'pid'].sort(),
  )
  expect(ready.operatorUrl).toMatch(/\/welcome\/[\w-]{43}$/)
  expect(await stop(ctx)).toBe(0)
  expect(await Array.fromAsync(ctx.stdout)).toEqual([])
})
