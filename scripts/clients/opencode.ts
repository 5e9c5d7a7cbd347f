/**
 * `bun scripts/clients/opencode.ts`: the coding agent OpenCode, over /v1/chat/completions. It calls
 * the tool write or apply_patch, which writes a file, and repeats the prompt.
 */
import { modelOfKind } from '../../src/testing/fakes/demo-upstreams.ts'
import { type Agent, run } from './agent.ts'

/** The model that gets the tool apply_patch in place of write, by its name. */
const patchingModel = modelOfKind('openai')
const patch = '*** Begin Patch\n*** Add File: made.txt\n+Ahoy\n*** End Patch'

export const agent: Agent = {
  package: 'opencode-ai@1.18.33',
  command: 'opencode',
  splitsPrompt: true,
  toolPrompt: (folder, model) =>
    model === patchingModel
      ? `call apply_patch ${JSON.stringify({ patchText: patch })}`
      : `call write ${JSON.stringify({ filePath: `${folder}/made.txt`, content: 'Ahoy' })}`,
  words: () => ['run'],
  files: ({ origin, model }) => ({
    'opencode.json': JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      enabled_providers: ['berth'],
      model: `berth/${model}`,
      small_model: `berth/${model}`,
      provider: {
        berth: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${origin}/v1`, apiKey: '{env:GATEWAY_KEY}' },
          models: { [model]: { limit: { context: 128_000, output: 4_096 } } },
        },
      },
    }),
  }),
}

if (import.meta.main) console.log(await run(agent))
