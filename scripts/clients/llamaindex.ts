/** `bun scripts/clients/llamaindex.ts`: LlamaIndex.TS, over /v1/chat/completions. */
import { runSdk, type Sdk } from './sdk.ts'

export const sdk: Sdk = {
  packages: ['llamaindex@0.12.1', '@llamaindex/openai@0.4.23'],
  program: 'llamaindex.mjs',
}

if (import.meta.main) console.log(await runSdk(sdk))
