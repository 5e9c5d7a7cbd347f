/**
 * `bun scripts/clients/pi.ts`: the coding agent pi, over /v1/chat/completions. It calls the tool
 * write, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: '@mariozechner/pi-coding-agent@0.73.1',
  command: 'pi',
  toolPrompt: () => `call write ${JSON.stringify({ path: 'made.txt', content: 'Ahoy' })}`,
  words: ({ model }) => ['--offline', '--provider', 'berth', '--model', model, '-p'],
  files: ({ origin, model }) => ({
    '../.pi/agent/models.json': JSON.stringify({
      providers: {
        berth: {
          baseUrl: `${origin}/v1`,
          api: 'openai-completions',
          apiKey: 'GATEWAY_KEY',
          models: [{ id: model }],
        },
      },
    }),
  }),
}

if (import.meta.main) console.log(await run(agent))
