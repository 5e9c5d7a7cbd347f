/** The buttons of the share dialog that copy, and the one that opens the dialog of the system. */
export function openSharing(): void {
  const fields = document.querySelectorAll<HTMLInputElement>('#sharing input')
  for (const field of fields) {
    const button = field.closest('.line')?.querySelector('button')
    button?.addEventListener('click', () => {
      field.select()
      // Plain HTTP has no clipboard API, and the policy of the player blocks it.
      if (document.execCommand('copy')) button.textContent = button.dataset['copied'] ?? ''
    })
  }
  const url = fields[0]?.value ?? ''
  const send = document.getElementById('send')
  if (!send || !('share' in navigator)) return
  send.hidden = false
  const { title } = document
  send.addEventListener('click', () => void navigator.share({ url, title }).catch(() => undefined))
}
