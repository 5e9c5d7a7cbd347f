const mutedKey = 'berth:muted'

/** Returns whether the sound is off. */
export function readMuted(): boolean {
  try {
    return localStorage.getItem(mutedKey) === 'true'
  } catch {
    return false
  }
}

/** Stores the choice for the next app. Without storage it lasts as long as the page. */
export function storeMuted(isMuted: boolean): void {
  try {
    localStorage.setItem(mutedKey, String(isMuted))
  } catch {
    return
  }
}
