/**
 * `bun scripts/clients/cline.ts`: the coding agent Cline, over /v1/chat/completions. It runs a
 * command that writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: 'cline@3.0.65',
  command: 'cline',
  setup: ({ origin, key, model }) => [
    'auth',
    '-p',
    'openai',
    '-k',
    key,
    '-m',
    model,
    '-b',
    `${origin}/v1`,
  ],
  toolPrompt: () => `call run_commands ${JSON.stringify({ commands: ['echo Ahoy > made.txt'] })}`,
  words: () => [],
}

if (import.meta.main) console.log(await run(agent))
