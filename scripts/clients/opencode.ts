/**
 * `bun scripts/clients/opencode.ts`: the coding agent OpenCode, over /v1/chat/completions. It calls
 * the tool write, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: 'opencode-ai@1.18.33',
  command: 'opencode',
  splitsPrompt: true,
  toolPrompt: (folder) =>
    `call write ${JSON.stringify({ filePath: `${folder}/made.txt`, content: 'Ahoy' })}`,
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
