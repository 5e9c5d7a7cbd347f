/** `bun scripts/clients/opencode.ts`: a coding agent over /v1/chat/completions, streamed. */
import { type Agent, run } from './agent.ts'

const model = 'demo/chat'

export const agent: Agent = {
  package: 'opencode-ai@1.18.33',
  command: 'opencode',
  words: () => ['run'],
  files: (baseURL) => ({
    'opencode.json': JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      enabled_providers: ['berth'],
      model: `berth/${model}`,
      small_model: `berth/${model}`,
      provider: {
        berth: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL, apiKey: '{env:GATEWAY_KEY}' },
          models: { [model]: { limit: { context: 128_000, output: 4_096 } } },
        },
      },
    }),
  }),
}

if (import.meta.main) await run(agent)
