/**
 * `bun scripts/clients/cn.ts`: Continue's coding agent, over /v1/chat/completions. It calls the
 * tool Write, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: '@continuedev/cli@1.5.47',
  command: 'cn',
  toolPrompt: () => `call Write ${JSON.stringify({ filepath: 'made.txt', content: 'Ahoy' })}`,
  words: () => ['--config', '../config.yaml', '--auto', '-p'],
  files: ({ origin, key, model }) => ({
    // JSON is YAML, too.
    '../config.yaml': JSON.stringify({
      name: 'berth',
      version: '1.0.0',
      schema: 'v1',
      models: [
        {
          name: 'demo',
          provider: 'openai',
          model,
          apiBase: `${origin}/v1`,
          apiKey: key,
          roles: ['chat'],
          capabilities: ['tool_use'],
        },
      ],
    }),
  }),
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
}

if (import.meta.main) console.log(await run(agent))
