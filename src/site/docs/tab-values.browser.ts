/** Values of the docs that stay in the tab: the key is never stored longer. */

export function readValue(name: string): string {
  try {
    return sessionStorage.getItem(`docs ${name}`) ?? ''
  } catch {
    return ''
  }
}

export function saveValue(name: string, value: string): void {
  try {
    sessionStorage.setItem(`docs ${name}`, value)
  } catch {
    // Without storage, the values end with the page.
  }
}
