/**
 * `bun scripts/clients/codex.ts`: OpenAI's coding agent, over /v1/responses. It writes a
 * file, with a patch or a command, and repeats the prompt.
 */
import { modelOfKind } from '../../src/testing/fakes/demo-upstreams.ts'
import { type Agent, run } from './agent.ts'

const setting = (name: string, value: string): string[] => ['-c', `${name}="${value}"`]

/** The model that Codex knows by its name: it gets the custom tool apply_patch. */
const knownModel = modelOfKind('openai')
const patch = '*** Begin Patch\n*** Add File: made.txt\n+Ahoy\n*** End Patch\n'

export const agent: Agent = {
  package: '@openai/codex@0.169.0',
  command: 'codex',
  relayedModel: knownModel,
  toolPrompt: (_, model) =>
    model === knownModel
      ? `call apply_patch ${JSON.stringify({ input: patch })}`
      : `call exec_command ${JSON.stringify({ cmd: 'echo Ahoy > made.txt' })}`,
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
