/**
 * `bun scripts/clients/python.ts [word ...]`: runs the section "Python" of docs/clients.md, or its
 * parts whose title contains a word, with the demo model and a model of each kind of upstream. Then
 * it runs the tool round trips of programs/tools.py. Prints a line for each client, and exits 1 if
 * one fails. It installs the pinned packages with pip into virtual environments.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { type ClientServer, startClientServer } from '../../src/testing/clients/server.ts'
import {
  chatKinds,
  modelOfKind,
  startDemoUpstreams,
} from '../../src/testing/fakes/demo-upstreams.ts'
import { startChain } from '../../src/testing/fixtures/chain.ts'
import { startPaidServer } from '../../src/testing/fixtures/payments.ts'
import { installMs, makeHome, spawn } from './agent.ts'
import { demoModel } from './every-kind.ts'

interface PythonClient {
  /** Its packages with their versions. */
  packages: string
  /** Its functions in programs/tools.py. */
  tools?: string[]
  /** The name of a virtual environment of its own, where its pins contradict others. */
  own?: string
  /** It pays with a wallet, on a chain of its own, and runs with the demo model only. */
  pays?: boolean
}

/** The clients by their titles in docs/clients.md. */
const clients: Record<string, PythonClient> = {
  openai: { packages: 'openai==2.54.0', tools: ['openai_chat', 'openai_responses'] },
  anthropic: { packages: 'anthropic==2.14.0', tools: ['anthropic'] },
  'google-genai': { packages: 'google-genai==3.6.1', tools: ['google_genai'] },
  cohere: { packages: 'cohere==7.3.1', tools: ['cohere'] },
  mistralai: { packages: 'mistralai==3.7.0', tools: ['mistralai'] },
  LiteLLM: { packages: 'litellm==1.110.2', tools: ['litellm'] },
  LangChain: {
    packages: 'langchain-openai==1.7.4 langchain-anthropic==1.7.10 langchain-google-genai==4.4.3',
    tools: ['langchain'],
  },
  LlamaIndex: { packages: 'llama-index-llms-openai-like==0.8.1' },
  'pydantic-ai': { packages: 'pydantic-ai-slim[openai,google]==2.31.1', tools: ['pydantic_ai'] },
  llm: { packages: 'llm==0.32.1' },
  aider: { packages: 'aider-chat==0.86.2', own: 'aider' },
  x402: { packages: 'x402[httpx,evm]==2.25.0 openai==2.54.0', pays: true },
}

const documented = 'http://localhost:3000'
const docs = await Bun.file(join(import.meta.dir, '../../docs/clients.md')).text()
const section = /\n## Python\n([\s\S]*?)\n(?=## |\[Gateway decisions\])/.exec(docs)?.[1] ?? ''
const program = join(import.meta.dir, 'programs/tools.py')

/** Returns the examples below a title: the language and the text of each. */
function examplesOf(title: string): { language: string; text: string }[] {
  const part = section.split('\n### ').find((text) => text.startsWith(`${title}\n`)) ?? ''
  const found = [...part.matchAll(/```(python|sh)\n([\s\S]*?)```/g)]
  if (found.length === 0) throw new Error(`docs/clients.md has no example of ${title}.`)
  return found.map(([, language = '', text = '']) => ({ language, text }))
}

/** Creates the virtual environments of clients. */
async function install(chosen: [string, PythonClient][], home: string): Promise<void> {
  const packages = new Map<string, string[]>()
  for (const [, { packages: names, own = 'shared' }] of chosen) {
    packages.set(own, [...(packages.get(own) ?? []), ...names.split(' ')])
  }
  for (const [name, names] of packages) {
    await spawn(['python3', '-m', 'venv', name], home)
    await spawn([join(home, name, 'bin/pip'), 'install', '-q', ...names], home, {}, installMs)
  }
}

interface Target {
  /** The folder of the virtual environments. */
  home: string
  origin: string
  model: string
  /** Environment variables with keys. */
  keys: Record<string, string>
}

/** Runs the examples of a client with a model, and its round trips. Throws if one fails. */
async function runExamples(title: string, client: PythonClient, to: Target): Promise<void> {
  const { home, origin, model, keys } = to
  const bin = join(home, client.own ?? 'shared', 'bin')
  const work = mkdtempSync(join(home, 'work-'))
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  const env = { ...quiet, ...keys, PATH: path, HOME: work, LLM_USER_PATH: work, BASE_URL: origin }
  for (const { language, text } of examplesOf(title)) {
    const example = text.replaceAll(documented, origin).replaceAll(demoModel, model)
    const command =
      language === 'sh' ? ['sh', '-euc', example] : [join(bin, 'python'), '-c', example]
    const output = await spawn(command, work, env)
    if (!output.includes('Ahoy')) throw new Error(`The reply is missing:\n${output}`)
  }
  for (const name of client.tools ?? []) {
    await spawn([join(bin, 'python'), program, name, model], work, env)
  }
}

/** Runs the examples with a model of a server. Throws if one fails or nothing was charged. */
async function runCharged(
  title: string,
  client: PythonClient,
  { server, ...to }: { server: ClientServer; home: string; model: string },
): Promise<void> {
  const [, origin = ''] = server.baseUrls
  const before = await server.spent()
  await runExamples(title, client, { ...to, origin, keys: { GATEWAY_KEY: server.key } })
  if ((await server.spent()) === before) throw new Error('Nothing was charged.')
}

/** Runs the examples with an agent's key without credits. Throws if its wallet paid nothing. */
async function runPaying(title: string, client: PythonClient, home: string): Promise<void> {
  const chain = await startChain()
  const paid = await startPaidServer(chain, { DEMO_MODELS: 'on', START_CREDITS_ON_GATEWAY: 'off' })
  try {
    const [wallet, agent] = [await chain.createWallet(), await paid.agent('python')]
    const before = await chain.balanceOf(wallet.address)
    const keys = { AGENT_KEY: agent.key, WALLET_KEY: wallet.key }
    await runExamples(title, client, { home, origin: paid.url, model: demoModel, keys })
    if ((await chain.balanceOf(wallet.address)) === before) throw new Error('Nothing was paid.')
  } finally {
    await paid.close()
    await chain.stop()
  }
}

/** LiteLLM and aider load nothing at their start, and aider asks nothing. */
const quiet = {
  PYTHONWARNINGS: 'ignore',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  AIDER_YES_ALWAYS: 'true',
  AIDER_DRY_RUN: 'true',
  AIDER_GIT: 'false',
  AIDER_ANALYTICS: 'false',
  AIDER_CHECK_UPDATE: 'false',
  AIDER_SHOW_MODEL_WARNINGS: 'false',
}

const words = Bun.argv.slice(2).map((word) => word.toLowerCase())
const chosen = Object.entries(clients).filter(
  ([title]) => words.length === 0 || words.some((word) => title.toLowerCase().includes(word)),
)
const home = makeHome()
const upstreams = await startDemoUpstreams()
const server = await startClientServer(upstreams.models)
const models = [demoModel, ...chatKinds.map(modelOfKind)]
try {
  await install(chosen, home)
  for (const [title, client] of chosen) {
    const failed: string[] = []
    for (const model of client.pays ? [demoModel] : models) {
      const run = client.pays
        ? runPaying(title, client, home)
        : runCharged(title, client, { home, server, model })
      await run.catch((error: unknown) => {
        failed.push(model)
        console.log(`With ${model}:`, error)
      })
    }
    console.log(`${failed.length > 0 ? 'failed' : 'passed'}: ${client.packages}`)
    if (failed.length > 0) process.exitCode = 1
  }
} finally {
  await server.stop()
  await upstreams.stop()
  rmSync(home, { recursive: true, force: true })
}
process.exit()
