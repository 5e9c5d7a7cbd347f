import {
  isProvider,
  type KeyTest,
  type ProviderName,
  tryKey,
} from '../../gateway/providers/try-key.ts'
import { providers } from '../../kernel/config/providers.ts'
import { camelCase } from '../../kernel/config/setting-types.ts'
import { type SettingName, SettingsSchema } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { changeSetting } from './settings.ts'

/** A provider of models as the console names it, and the setting of its key. */
export interface ProviderKey {
  name: ProviderName
  label: string
  setting: SettingName
}

const isSetting = (name: string): name is SettingName =>
  Object.hasOwn(SettingsSchema.properties, name)

/** The providers that need only a key, with the names of their settings' descriptions. */
export const providerKeys: ProviderKey[] = Object.keys(SettingsSchema.properties).flatMap(
  (setting) => {
    const key = camelCase(setting)
    const name = Object.keys(providers).find((one) => isProvider(one) && providers[one].key === key)
    if (name === undefined || !isProvider(name) || !isSetting(setting)) return []
    const { description = '' } = SettingsSchema.properties[setting]
    const label = /^API key of (.*?)[.,] /.exec(description)?.[1] ?? name
    return [{ name, label, setting }]
  },
)

/** A connected provider, the models that it serves here, and the one that answered the test. */
export interface ConnectedProvider {
  models: number
  tested: string | null
}

/**
 * Tests a key with one cheap call, stores it encrypted, and serves the models of the provider from
 * then on, on all servers. Throws `not_found`, and `bad_request` where the call failed.
 */
export async function connectProvider(
  ctx: AppContext,
  { name, key, by }: { name: string; key: string; by: string },
): Promise<ConnectedProvider> {
  const provider = providerKeys.find((one) => one.name === name)
  if (!provider) throw new ApiError('not_found', { what: 'provider' })
  const test = await tryKey(ctx, provider.name, key)
  if ('reason' in test) rejectRequest(whyFailed(provider, test), 'key')
  await changeSetting(ctx, { name: provider.setting, value: key, by })
  const offers = ctx.catalog.list().flatMap((model) => model.offers)
  const models = offers.filter(({ upstream }) => upstream === provider.name).length
  return { models, tested: test.model ?? null }
}

/** Says what happened, whose side it is on, and what to do. */
function whyFailed({ label }: ProviderKey, { status, reason }: Failed): string {
  const details = reason.slice(0, 300)
  if (status === 0) {
    return `${label} could not be called from this server: ${details}. Check the connection and the address. Nothing was stored.`
  }
  if (status === 401 || status === 403) {
    return `${label} rejected this key: ${details} Copy the whole key from your account there. Nothing was stored.`
  }
  if (status === 402 || status === 429) {
    return `${label} knows this key, but refused a call: ${details} Check the credit and the limits of your account there. Nothing was stored.`
  }
  return `${label} responded with status ${status}: ${details} Try again later. Nothing was stored.`
}

type Failed = Extract<KeyTest, { reason: string }>
