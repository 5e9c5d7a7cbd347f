/**
 * `bun scripts/clients/codex.ts`: OpenAI's coding agent, over /v1/responses. It runs a command that
 * writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

const setting = (name: string, value: string): string[] => ['-c', `${name}="${value}"`]

export const agent: Agent = {
  package: '@openai/codex@0.169.0',
  command: 'codex',
  toolPrompt: () => `call exec_command ${JSON.stringify({ cmd: 'echo Ahoy > made.txt' })}`,
  words: ({ origin, model }) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    ...setting('model', model),
    ...setting('model_provider', 'berth'),
    ...setting('model_providers.berth.name', 'Berth'),
    ...setting('model_providers.berth.base_url', `${origin}/v1`),
    ...setting('model_providers.berth.env_key', 'GATEWAY_KEY'),
    ...setting('model_providers.berth.wire_api', 'responses'),
  ],
}

if (import.meta.main) console.log(await run(agent))
