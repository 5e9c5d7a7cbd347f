/** `bun scripts/clients/codex.ts`: OpenAI's coding agent, over /v1/responses. */
import { type Agent, run } from './agent.ts'

const setting = (name: string, value: string): string[] => ['-c', `${name}="${value}"`]

export const agent: Agent = {
  package: '@openai/codex@0.169.0',
  command: 'codex',
  toolPrompt: () => `call exec_command ${JSON.stringify({ cmd: 'echo Ahoy > made.txt' })}`,
  words: (baseUrl) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    ...setting('model', 'demo/chat'),
    ...setting('model_provider', 'berth'),
    ...setting('model_providers.berth.name', 'Berth'),
    ...setting('model_providers.berth.base_url', baseUrl),
    ...setting('model_providers.berth.env_key', 'GATEWAY_KEY'),
    ...setting('model_providers.berth.wire_api', 'responses'),
  ],
}

if (import.meta.main) await run(agent)
