/**
 * `bun scripts/clients/claude-code.ts`: Anthropic's coding agent, over /v1/messages. It calls the
 * tool Write, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: '@anthropic-ai/claude-code@2.1.197',
  command: 'claude',
  toolPrompt: (folder) =>
    `call Write ${JSON.stringify({ file_path: `${folder}/made.txt`, content: 'Ahoy' })}`,
  installScript: 'node_modules/@anthropic-ai/claude-code/install.cjs',
  words: ({ model }) => ['--model', model, '--dangerously-skip-permissions', '-p'],
  env: ({ origin, key, model }) => ({
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // It accepts the flag above as root in a sandbox only.
    IS_SANDBOX: '1',
  }),
}

if (import.meta.main) console.log(await run(agent))
