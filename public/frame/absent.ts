import { put } from './quiet.ts'

/** Notifications as a browser has them after the person has refused. */
class Notification extends EventTarget {
  static permission = 'denied'
  static maxActions = 0
  static async requestPermission(done?: (permission: string) => void): Promise<string> {
    done?.('denied')
    return 'denied'
  }

  onclick = null
  onclose = null
  onerror: ((event: Event) => void) | null = null
  onshow = null
  readonly body: string

  constructor(
    readonly title: string,
    options: NotificationOptions = {},
  ) {
    super()
    this.body = String(options.body ?? '')
    setTimeout(() => {
      const event = new Event('error')
      this.dispatchEvent(event)
      this.onerror?.(event)
    })
  }

  close(): void {}
}

/** Features that refuse instead of missing: pages call them without a test. */
export function absent(): void {
  put(window, 'Notification', Notification)
  if (!('vibrate' in navigator)) put(navigator, 'vibrate', () => false)
}
