/**
 * `bun scripts/clients/gemini-cli.ts`: Google's coding agent, over /v1beta. It calls the tool
 * write_file, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: '@google/gemini-cli@0.61.0',
  command: 'gemini',
  toolPrompt: (folder) =>
    `call write_file ${JSON.stringify({ file_path: `${folder}/made.txt`, content: 'Ahoy' })}`,
  words: ({ model }) => ['--model', model, '--yolo', '--prompt'],
  files: () => ({
    '../.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
    }),
  }),
  env: ({ origin, key }) => ({
    GOOGLE_GEMINI_BASE_URL: origin,
    GEMINI_API_KEY: key,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
}

if (import.meta.main) console.log(await run(agent))
