/** Returns a safe file name: no path, no control or bidirectional characters. */
export function fileName(given: string): string {
  const name = given.replace(/[\p{C}\u200e\u200f\u202a-\u202e\u2066-\u2069\\/:*?"<>|]/gu, '').trim()
  return name.replace(/^\.+/, '').slice(-100) || 'file'
}

/** Saves a file of a page as a download. */
export function saveFile(name: string, blob: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
