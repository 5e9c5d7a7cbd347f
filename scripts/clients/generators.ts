/**
 * `bun scripts/clients/generators.ts`: generates clients from both OpenAPI documents, as a server
 * has them, with two generators of different authors, and checks the types. Neither may leave
 * anything out, and each client publishes and chats.
 * Needs Python 3 with venv and npm; it installs the pinned generators.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A clean checkout has no public/dist, which the server of the documents reads.
import '../../src/testing/preload.ts'
import { serveGateway } from '../../src/testing/fixtures/gateway.ts'
import { startTestServer } from '../../src/testing/fixtures/test-server.ts'
import { installPackages } from '../check/packages.ts'
import { succeeds } from '../check/run.ts'
import { install, installMs, spawn } from './agent.ts'

const pythonPackage = 'openapi-python-client==0.29.1'
const typescriptPackages = '@hey-api/openapi-ts@0.99.0 typescript@5.9.3'
const apis = { agent: '/api/openapi.json', gateway: '/v1/openapi.json' }

/** openapi-python-client knows JSON, texts and bytes. It has no formatter to run afterwards. */
const config = `
post_hooks: []
content_type_overrides:
  application/atom+xml: application/octet-stream
  application/zip: application/octet-stream
  "image/*": application/octet-stream
  "video/*": application/octet-stream
  "*/*": application/octet-stream
`

const inPython = `
import sys
origin = sys.argv[1]
from agent import AuthenticatedClient, Client
from agent.api.apps import list_apps, publish_app
from agent.api.keys import new_agent
from agent.models import PublishAppJsonBody
from gateway import AuthenticatedClient as GatewayClient
from gateway.api.chat import create_chat_completion
from gateway.models import CreateChatCompletionBody

key = new_agent.sync(client=Client(base_url=f"{origin}/api")).key
client = AuthenticatedClient(base_url=f"{origin}/api", token=key)
page = PublishAppJsonBody(html="<!doctype html><title>Reef</title>")
publish_app.sync(client=client, body=page)
print(list_apps.sync(client=client).apps[0].title)
body = {"model": "demo/chat", "messages": [{"role": "user", "content": "Ahoy"}]}
gateway = GatewayClient(base_url=f"{origin}/v1", token=key)
chat = create_chat_completion.sync(client=gateway, body=CreateChatCompletionBody.from_dict(body))
print(chat.to_dict()["choices"][0]["message"]["content"])
`

const inTypescript = `
import { listApps, newAgent, publishApp } from './agent'
import { createClient } from './agent/client'
import { createChatCompletion } from './gateway'
import { createClient as createGatewayClient } from './gateway/client'

const { data: agent } = await newAgent({ client: createClient({ baseUrl: 'ORIGIN/api' }) })
const client = createClient({ baseUrl: 'ORIGIN/api', auth: agent?.key })
await publishApp({ client, body: { html: '<!doctype html><title>Reef</title>' } })
console.log((await listApps({ client })).data?.apps[0]?.title)
const { data: chat } = await createChatCompletion({
  client: createGatewayClient({ baseUrl: 'ORIGIN/v1', auth: agent?.key }),
  body: { model: 'demo/chat', messages: [{ role: 'user', content: 'Ahoy' }] },
})
// A payment may be pending instead.
if (chat && 'choices' in chat) console.log(chat.choices[0]?.message.content)
`
const compilerOptions = {
  strict: true,
  target: 'esnext',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
  noEmit: true,
}
const include = ['program.ts']

/** Generates a client and throws an Error with what its generator could not read. */
async function generate(command: string[], folder: string): Promise<void> {
  const output = await spawn(command, folder, {}, installMs)
  const problems = output.split('\n').filter((line) => /warn|error/i.test(line))
  if (problems.length > 0) throw new Error(`${command.join(' ')}\n${output}`)
}

/** Generates the clients of both documents, and runs a program with each pair. */
async function run(folder: string, origin: string): Promise<void> {
  const bin = join(folder, 'venv/bin')
  const forPython = join(bin, 'openapi-python-client')
  const forTypescript = join(folder, 'node_modules/.bin/openapi-ts')
  await Bun.write(join(folder, 'config.yaml'), config)
  await Bun.write(join(folder, 'python/program.py'), inPython)
  await Bun.write(join(folder, 'program.ts'), inTypescript.replaceAll('ORIGIN', origin))
  await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  await spawn(['python3', '-m', 'venv', 'venv'], folder, {}, installMs)
  await spawn([join(bin, 'pip'), 'install', '-q', pythonPackage], folder, {}, installMs)
  await install(typescriptPackages, folder)
  for (const [name, path] of Object.entries(apis)) {
    const document = join(folder, 'documents', `${name}.json`)
    await Bun.write(document, await fetch(origin + path))
    const output = ['--config', 'config.yaml', '--meta', 'none', '--output-path', `python/${name}`]
    await generate([forPython, 'generate', '--path', document, ...output], folder)
    await generate([forTypescript, '-i', document, '-o', name], folder)
  }
  await spawn([process.execPath, 'check', '-p', '.'], folder, {}, installMs)
  for (const command of [
    [join(bin, 'python'), 'python/program.py', origin],
    [process.execPath, 'program.ts'],
  ]) {
    const output = await spawn(command, folder)
    if (output !== 'Reef\nAhoy') throw new Error(`${command.join(' ')} printed:\n${output}`)
  }
}

const python = { tests: 'generators', program: 'python3', packages: ['python3-venv'] }
if (!(await installPackages(python, succeeds))) process.exit(1)
if (Bun.which(python.program) === null) process.exit(0)
const server = await startTestServer({ DEMO_MODELS: 'on' })
const { origin, stop } = serveGateway(server)
const folder = mkdtempSync(join(tmpdir(), 'berth-generators-'))
try {
  await run(folder, origin)
  console.log('generators: both documents, two generators, no problems')
} catch (error) {
  console.log(error)
  process.exitCode = 1
} finally {
  await stop()
  await server.close()
  rmSync(folder, { recursive: true })
}
process.exit()
