/** `bun scripts/clients/cohere.ts`: Cohere's SDK, over /v2/chat and /v2/rerank. */
import { runSdk, type Sdk } from './sdk.ts'

export const sdk: Sdk = { packages: ['cohere-ai@8.1.0'], program: 'cohere.mjs' }

if (import.meta.main) console.log(await runSdk(sdk))
