import { formatNumber, t } from '../words.ts'
import { create } from './ask.ts'
import type { Score } from './service-types.ts'

/** A board as the shell shows it. */
interface Board {
  top: Score[]
  mine: Score | null
  /** Players on it. */
  count: number
}

/**
 * Shows a dialog of the shell above the app, until the player or the next dialog closes it, or
 * `signal` ends it. `actions` are buttons before the one with `label`, which closes it.
 */
export async function showDialog(
  heading: string,
  parts: HTMLElement[],
  signal: AbortSignal,
  actions: HTMLElement[] = [],
  label = t('Close'),
): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen().catch(() => undefined)
  // A page may ask for many.
  const last = document.querySelector<HTMLDialogElement>('#board')
  last?.close()
  last?.remove()
  const dialog = create('dialog', [], { id: 'board' })
  const title = create('h2', [heading], { id: 'board-title' })
  dialog.setAttribute('aria-labelledby', title.id)
  const form = create('form', [...actions, create('button', [label])], { method: 'dialog' })
  dialog.append(title, ...parts, form)
  document.body.append(dialog)
  const closed = new Promise((resolve) => dialog.addEventListener('close', resolve))
  const close = (): void => dialog.close()
  signal.addEventListener('abort', close)
  dialog.showModal()
  await closed
  signal.removeEventListener('abort', close)
  dialog.remove()
  document.querySelector('iframe')?.focus()
}

/** Returns the title of the app, as the bar of the shell has it. */
export const appTitle = (): string => document.querySelector('h1')?.textContent ?? ''

/** Shows a board above the app. */
export function showBoard(
  name: string,
  board: Board,
  signal: AbortSignal,
  actions: HTMLElement[],
): Promise<void> {
  const title = appTitle()
  const heading = name === '' ? t('Scores of {title}', { title }) : `${title}: ${name}`
  return showDialog(heading, [contentOf(board)], signal, actions)
}

function contentOf({ top, mine, count }: Board): HTMLElement {
  if (top.length === 0) return create('p', [t('There are no scores yet. Be the first.')])
  const isShown = mine === null || top.some(({ isMe }) => isMe)
  const rows = [...top, ...(isShown ? [] : [mine])].map(rowOf)
  const players = t(count === 1 ? '{count} player' : '{count} players', {
    count: formatNumber(count),
  })
  return create('div', [
    create('table', [create('tbody', rows)]),
    create('p', [players], { className: 'small' }),
  ])
}

const rowOf = ({ rank, name, score, isMe }: Score): HTMLElement =>
  create(
    'tr',
    [
      create('td', [String(rank)]),
      create('td', [create('bdi', [name]), ...(isMe ? [' ', t('(you)')] : [])]),
      create('td', [formatNumber(score)]),
    ],
    { className: isMe ? 'own' : '' },
  )
