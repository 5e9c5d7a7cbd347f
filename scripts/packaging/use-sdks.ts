/** Installs the packed SDKs in empty projects, and runs the example of their READMEs there. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { chromium } from 'playwright-core'

import { version } from '../../package.json'
import { chromiumFlags, findBrowser } from '../../src/testing/browsers/browser.ts'
import { install, installMs, spawn } from '../clients/agent.ts'

const root = join(import.meta.dir, '../..')
const documented = 'http://localhost:3000'

/** The output of a program after the example of a README, which publishes a page and chats. */
const expected = { titles: ['Reef'], reply: 'Ahoy', isStream: true, code: 'not_found' }

/** Returns the first example of a README, for a server. */
async function exampleOf(sdk: string, origin: string): Promise<string> {
  const readme = await Bun.file(join(root, `sdk/${sdk}/README.md`)).text()
  const [, example = ''] = /^```\w+\n(.*?)^```/ms.exec(readme) ?? []
  return example.replaceAll(documented, origin)
}

const inTypescript = `
import { BerthError } from 'berth-sdk'

const titles: string[] = []
for await (const { title } of berth.agent.listApps()) titles.push(title)
const again = { model: 'demo/chat', messages: [{ role: 'user' as const, content: 'Ahoy there' }] }
const chunks: unknown[] = []
for await (const chunk of berth.gateway.createChatCompletion(again)) chunks.push(chunk)
const missing = await berth.agent.getApp({ id: 'AAAAAAAAAAAA' }).catch((error: unknown) => error)
const code = missing instanceof BerthError && missing.code
const reply = chat.choices[0]?.message.content
console.log(app?.link)
console.log(JSON.stringify({ titles, reply, isStream: chunks.length > 1, code }))
`

const inPython = `
import asyncio, json
from berth_sdk import AsyncBerth, BerthError

titles = [app["title"] for app in berth.agent.list_apps()]
call = AsyncBerth("URL", key).gateway.create_chat_completion(
    model="demo/chat",
    messages=[{"role": "user", "content": "Ahoy there"}],
)

async def count() -> int:
    return len([chunk async for chunk in call])

chunks = asyncio.run(count())
try:
    berth.agent.get_app(id="AAAAAAAAAAAA")
except BerthError as error:
    code = error.code
reply = chat["choices"][0]["message"]["content"]
print(json.dumps({"titles": titles, "reply": reply, "isStream": chunks > 1, "code": code}))
`

/** Throws an Error when a program did not print the link of its page and what was expected. */
async function checkOutput(output: string, origin: string): Promise<void> {
  const path = /^http\S+(\/a\/[\w-]+)$/m.exec(output)?.[1] ?? '/a/none'
  const printed = /^\{".*\}$/m.exec(output)?.[0] ?? '{}'
  const isEqual = Bun.deepEquals(JSON.parse(printed), expected)
  if (!isEqual || (await fetch(origin + path)).status !== 200) throw new Error(output)
}

const pageMs = 60_000

/** Runs program.js in a page of Chromium, whose origin is not that of the server. */
async function runInChromium(folder: string): Promise<string> {
  const imports = { 'berth-sdk': '/node_modules/berth-sdk/index.js' }
  const page = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>
    <script type="module" src="/program.js"></script>`
  const files = Bun.serve({
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname !== '/') return new Response(Bun.file(join(folder, pathname)))
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })
  const executablePath = findBrowser('chromium') ?? ''
  const browser = await chromium.launch({ executablePath, args: chromiumFlags })
  try {
    const tab = await browser.newPage()
    const lines: string[] = []
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    tab.on('pageerror', (error) => end(void lines.push(String(error))))
    tab.on('console', (message) => {
      lines.push(message.text())
      if (message.text().startsWith('{')) end()
    })
    await tab.goto(files.url.href)
    await Promise.race([ended, Bun.sleep(pageMs)])
    return lines.join('\n')
  } finally {
    await browser.close()
    await files.stop(true)
  }
}

/** Functions that run program.js in its folder, and return what it printed. */
const runtimes = {
  node: (folder: string) => spawn(['node', 'program.js'], folder),
  bun: (folder: string) => spawn([process.execPath, 'program.js'], folder),
  deno: (folder: string) =>
    spawn(['npx', '--no', 'deno', 'run', '--quiet', '--allow-net', 'program.js'], folder),
  chromium: runInChromium,
}

const compilerOptions = {
  strict: true,
  target: 'esnext',
  module: 'nodenext',
  lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
  noEmit: true,
}
const transpiler = new Bun.Transpiler({ loader: 'ts' })

/**
 * Installs the tarball of `files`, checks the types of the example, and runs it. Throws an Error
 * with the output if that fails.
 */
export async function useTypescript(
  runtime: keyof typeof runtimes,
  { files, folder, origin }: { files: string; folder: string; origin: string },
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), '{ "type": "module" }')
  const packages = [join(files, `berth-sdk-${version}.tgz`), ...(runtime === 'deno' ? [deno] : [])]
  await install(packages.join(' '), folder)
  const program = (await exampleOf('typescript', origin)) + inTypescript
  await Bun.write(join(folder, 'program.ts'), program)
  if (runtime === 'node') {
    await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await spawn([process.execPath, 'check', '-p', '.'], folder)
  }
  await Bun.write(join(folder, 'program.js'), transpiler.transformSync(program))
  await checkOutput(await runtimes[runtime](folder), origin)
}

const deno = 'deno@2.9.6'
const mypy = 'mypy==2.4.1'

/** Installs the wheel of `files` without a registry, checks the types and runs the example. */
export async function usePython({
  files,
  folder,
  origin,
}: {
  files: string
  folder: string
  origin: string
}): Promise<void> {
  const python = join(folder, 'venv/bin/python')
  await spawn(['python3', '-m', 'venv', 'venv'], folder, {}, installMs)
  const wheel = join(files, `berth_sdk-${version}-py3-none-any.whl`)
  await spawn([python, '-m', 'pip', 'install', '-q', '--no-index', wheel], folder, {}, installMs)
  const program = (await exampleOf('python', origin)) + inPython.replace('URL', origin)
  await Bun.write(join(folder, 'program.py'), program)
  await spawn([python, '-m', 'pip', 'install', '-q', mypy], folder, {}, installMs)
  await spawn([python, '-m', 'mypy', '--strict', 'program.py'], folder, {}, installMs)
  await checkOutput(await spawn([python, 'program.py'], folder), origin)
}
