import type { Shell } from './opened-page.ts'
import { removeParameters } from './received.ts'

/** Name of the query of an installed app as it starts (src/apps/viewer/own-manifest.ts). */
const installedQuery = 'installed'

/** Registers the worker of the app at a path, which saves its copy. Rejects where it has none. */
export async function registerWorker(at: string): Promise<ServiceWorkerRegistration> {
  const url = `${at}/offline/worker.js`
  // The policy of the page of an app lets it name no other script. A page makes it once.
  if (!window.trustedTypes?.defaultPolicy) {
    window.trustedTypes?.createPolicy('default', {
      createScriptURL: (given) => {
        if (given !== url) throw new Error('not the worker')
        return given
      },
    })
  }
  return navigator.serviceWorker.register(url, { scope: at })
}

/**
 * Saves the copy of an app that the browser installs by its own menu, and of one that starts as an
 * installed app: iOS gives that a storage of its own.
 */
export function saveInstalled({ at }: Shell): void {
  // Previews and frames have no manifest, private windows and plain HTTP no workers.
  const canSave = document.querySelector('link[rel=manifest]') && 'serviceWorker' in navigator
  if (!canSave || self !== top) return
  const save = (): void => void registerWorker(at).catch(() => undefined)
  addEventListener('appinstalled', save, { once: true })
  if (!new URLSearchParams(location.search).has(installedQuery)) return
  removeParameters([installedQuery])
  save()
}
