import type { Saves } from './kept-saves.ts'
import { type DialogResult, field } from './messages.ts'
import type { Offer } from './notices.ts'
import { offerOf } from './offers.ts'
import type { SavedDatabases } from './saved-databases.ts'
import { answersIn, apply, changesIn } from './saves.ts'
import { markServed } from './served.ts'

/** The part of the shell that answers an app. */
interface Receiver {
  saves: Saves
  openDatabases(): Promise<SavedDatabases>
  /** Values of sessionStorage, which live as long as the page. */
  session: Map<string, string>
  /** The document of a run has started. */
  started(run: number): void
  answered(answers: DialogResult[]): void
  /** The app threw or logged an error. */
  failed(error: unknown): void
  notify(offer: Offer): void
}

/** Returns a function that handles the messages of an app. */
export function receiver(shell: Receiver) {
  let opened: Promise<SavedDatabases> | undefined
  const databases = (): Promise<SavedDatabases> => (opened ??= shell.openDatabases())
  return async (source: MessageEventSource | null, data: unknown): Promise<void> => {
    const reply = (message: object): void => source?.postMessage(message, { targetOrigin: '*' })
    switch (field(data, 'type')) {
      case 'service:hello':
        return shell.started(Number(field(data, 'run')))
      case 'service:save':
        return field(data, 'area') === 'local'
          ? shell.saves.change(changesIn(field(data, 'changes')))
          : apply(shell.session, changesIn(field(data, 'changes')))
      case 'service:databases': {
        const all = (await databases()).all()
        if (all.length > 0) markServed()
        return reply({ databases: all })
      }
      case 'service:database':
        return (await databases()).take(data)
      case 'service:error':
        return shell.failed(data)
      case 'service:answers':
        return shell.answered(answersIn(field(data, 'answers')))
    }
    const offer = offerOf(data)
    if (offer) shell.notify(offer)
  }
}
