/** `bun scripts/clients/mistral.ts`: Mistral's SDK, over chat, models and files. */
import { runSdk, type Sdk } from './sdk.ts'

export const sdk: Sdk = { packages: ['@mistralai/mistralai@2.7.0'], program: 'mistral.mjs' }

if (import.meta.main) console.log(await runSdk(sdk))
