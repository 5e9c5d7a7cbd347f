/** The clients of docs/clients.md, which `bun scripts/clients/all.ts` runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Agent, run } from './agent.ts'
import { agent as claudeCode } from './claude-code.ts'
import { agent as cline } from './cline.ts'
import { agent as cn } from './cn.ts'
import { agent as codex } from './codex.ts'
import { sdk as cohere } from './cohere.ts'
import type { Results } from './every-kind.ts'
import { agent as geminiCli } from './gemini-cli.ts'
import { sdk as llamaindex } from './llamaindex.ts'
import { sdk as mistral } from './mistral.ts'
import { agent as opencode } from './opencode.ts'
import { agent as pi } from './pi.ts'
import { agent as qwenCode } from './qwen-code.ts'
import { runRoundTrips } from './round-trips.ts'
import { runSdk, type Sdk } from './sdk.ts'

/** A row of the table. */
export interface Client {
  /** Packages of npm in Markdown. */
  name: string
  /** The package whose version the row has, such as "openai@7.57.0". */
  pinned: string
  api: string
  /** Commands or test files in Markdown. */
  testedBy: string
  /** True if it calls a tool that writes a file. */
  hasTools: boolean
  /** Returns the kinds of upstreams where it wrote a file. Throws if the client fails. */
  run(): Promise<Results>
}

const root = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const code = (text: string): string => `\`${text}\``

/** Returns a package of package.json with its version. */
function pinnedOf(name: string): string {
  const version = new RegExp(`"${name}": "([\\d.]+)"`).exec(read('package.json'))?.[1]
  if (version === undefined) throw new Error(`${name} has no exact version in package.json.`)
  return `${name}@${version}`
}

/**
 * A package of package.json that test files use. `names`: it is the last of them. `trips`: its
 * round trips of src/testing/clients/round-trips/all.ts; the package itself by default.
 */
function tested(
  names: string[],
  api: string,
  files: string[],
  trips = [names.at(-1) ?? ''],
): Client {
  const [first = '', ...others] = names.map(code)
  return {
    name: others.length > 0 ? `${first} with ${others.join(', ')}` : first,
    pinned: pinnedOf(names.at(-1) ?? ''),
    api,
    testedBy: files.map(code).join(', '),
    hasTools: true,
    async run() {
      const command = [process.execPath, 'test', '--timeout=300000', ...files]
      const test = Bun.spawn(command, { cwd: root, stdout: 'ignore', stderr: 'ignore' })
      if ((await test.exited) !== 0) throw new Error(`The tests failed: ${files.join(' ')}`)
      return runRoundTrips(trips)
    },
  }
}

const scripted = (
  script: string,
  packages: string[],
  api: string,
  start: () => Promise<Results>,
) => ({
  name: packages.map((one) => code(one.slice(0, one.lastIndexOf('@')))).join(' with '),
  pinned: packages[0] ?? '',
  api,
  testedBy: code(`bun scripts/clients/${script}.ts`),
  hasTools: true,
  run: start,
})
const agentRow = (script: string, agent: Agent, api: string): Client =>
  scripted(script, [agent.package], api, () => run(agent))
const sdkRow = (script: string, sdk: Sdk, api: string): Client =>
  scripted(script, sdk.packages, api, () => runSdk(sdk))

/** The installer of skills, whose script has no key and runs as its own process. */
function skillsRow(): Client {
  const path = 'scripts/clients/skills.ts'
  const version = /\['([\d.]+)', origin\]/.exec(read(path))?.[1] ?? ''
  const command = [process.execPath, join(root, path)]
  const start = async () => {
    if ((await Bun.spawn(command).exited) !== 0) throw new Error('The installer failed.')
    return {}
  }
  const api = 'Agent Skills Discovery, without a key'
  return { ...scripted('skills', [`skills@${version}`], api, start), hasTools: false }
}

const tests = 'src/testing/clients'
const sdks = `${tests}/sdks.test.ts`
const responses = `${tests}/responses.test.ts`
const roundTrips = `${tests}/round-trips.test.ts`
const openai = [
  `${tests}/openai.test.ts`,
  responses,
  'src/gateway/responses/stored.test.ts',
  'src/gateway/batches/batches.test.ts',
  'src/gateway/images/edits.test.ts',
  'src/gateway/audio/subtitles.test.ts',
]
const openaiApis =
  'chat, responses, stored responses, batches, moderations, image edits, translations, media, files, realtime'
const aiSdkOpenAi = ['@ai-sdk/openai', '@ai-sdk/openai-compatible']
const agentsTrips = ['@openai/agents, chat', '@openai/agents, responses']

export const clients: Client[] = [
  tested(['openai'], openaiApis, openai, ['openai, chat', 'openai, responses']),
  tested(['ai', ...aiSdkOpenAi], 'chat, responses', [sdks, responses], aiSdkOpenAi),
  tested(['@langchain/openai'], 'chat', [sdks]),
  tested(['@openai/agents'], 'chat, responses', [sdks, responses], agentsTrips),
  tested(['@anthropic-ai/sdk'], 'messages, models, files', [
    `${tests}/anthropic.test.ts`,
    'src/gateway/anthropic/anthropic.test.ts',
  ]),
  tested(['ai', '@ai-sdk/anthropic'], 'messages', [`${tests}/anthropic.test.ts`]),
  tested(['@google/genai'], 'Gemini, models', [
    `${tests}/google.test.ts`,
    'src/gateway/gemini/models.test.ts',
  ]),
  tested(['ai', '@ai-sdk/google'], 'Gemini', [`${tests}/google.test.ts`]),
  tested(['@openrouter/sdk'], 'chat, models, key, credits, generations', [
    `${tests}/openrouter.test.ts`,
  ]),
  tested(['ai', '@openrouter/ai-sdk-provider'], 'OpenRouter’s chat', [roundTrips]),
  tested(['groq-sdk'], 'chat', [roundTrips]),
  sdkRow('mistral', mistral, 'chat, models, files'),
  sdkRow('llamaindex', llamaindex, 'chat'),
  sdkRow('cohere', cohere, 'Cohere’s chat, embed, rerank and models'),
  agentRow('codex', codex, 'responses'),
  agentRow('claude-code', claudeCode, 'messages'),
  agentRow('gemini-cli', geminiCli, 'Gemini'),
  agentRow('opencode', opencode, 'chat'),
  agentRow('qwen-code', qwenCode, 'chat'),
  agentRow('pi', pi, 'chat'),
  agentRow('cline', cline, 'chat'),
  agentRow('cn', cn, 'chat'),
  skillsRow(),
]
