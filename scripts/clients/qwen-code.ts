/**
 * `bun scripts/clients/qwen-code.ts`: Qwen's coding agent, over /v1/chat/completions. It calls the
 * tool write_file, which writes a file, and repeats the prompt.
 */
import { type Agent, run } from './agent.ts'

export const agent: Agent = {
  package: '@qwen-code/qwen-code@0.24.4',
  command: 'qwen',
  toolPrompt: (folder) =>
    `call write_file ${JSON.stringify({ file_path: `${folder}/made.txt`, content: 'Ahoy' })}`,
  words: () => ['--auth-type', 'openai', '--yolo', '--prompt'],
  env: ({ origin, key, model }) => ({
    OPENAI_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: key,
    OPENAI_MODEL: model,
  }),
}

if (import.meta.main) console.log(await run(agent))
