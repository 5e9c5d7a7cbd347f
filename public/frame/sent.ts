import type { SandboxHost } from './host.ts'
import { field } from './messages.ts'

/** Time for an app to save before it ends. */
const leaveMs = 1_000

/**
 * Returns whether an app sent a message. What a document sends as it goes away may have no source.
 */
export const isFromApp = (host: SandboxHost, { source, data }: MessageEvent): boolean =>
  source === null ? field(data, 'run') === host.run : source === host.app

/** Lets an app save what it saves when it is left, and waits for it. */
export async function letSave({ app, hasStarted }: SandboxHost): Promise<void> {
  if (!hasStarted) return
  const waiting = new AbortController()
  await new Promise<void>((resolve) => {
    const take = ({ source, data }: MessageEvent): void => {
      if (source === app && field(data, 'type') === 'service:left') resolve()
    }
    addEventListener('message', take, { signal: waiting.signal })
    setTimeout(resolve, leaveMs)
    app?.postMessage({ type: 'service:leave' }, '*')
  })
  waiting.abort()
}
