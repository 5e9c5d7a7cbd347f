import { onRun } from './callers.ts'
import { listen } from './listen.ts'
import { field } from './messages.ts'

/** The parts of the boot script that the recorder uses, as its parameter `boot`. */
export interface RecorderBoot {
  /** Leads to the shell. */
  port: MessagePort | undefined
  listen: typeof listen
  onRun: typeof onRun
}

/**
 * Runs the recorder of moments, which the shell sends after the app has started: as a part of this
 * script it would delay each start.
 */
export function recording(shell: Window): void {
  listen('message', (event) => {
    if (event.source !== shell || field(event.data, 'type') !== 'service:record') return
    event.stopImmediatePropagation()
    try {
      const boot: RecorderBoot = { port: event.ports[0], listen, onRun }
      new Function('boot', event.data.script)(boot)
    } catch {
      // A page whose own policy forbids it has no moments.
    }
  })
}
