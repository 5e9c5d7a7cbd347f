/** `bun scripts/clients/cohere.ts`: Cohere's SDK, over chat, embed, rerank and models. */
import { runSdk, type Sdk } from './sdk.ts'

export const sdk: Sdk = { packages: ['cohere-ai@8.1.0'], program: 'cohere.mjs' }

if (import.meta.main) console.log(await runSdk(sdk))
