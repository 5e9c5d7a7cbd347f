import { create } from './ask.ts'
import type { Score } from './scores.ts'

/** A board as the shell shows it. */
interface Board {
  top: Score[]
  mine: Score | null
  /** Players on it. */
  count: number
}

/** Shows a board above the app, until the player closes it or `signal` ends it. */
export async function showBoard(name: string, board: Board, signal: AbortSignal): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen().catch(() => undefined)
  const dialog = create('dialog', [], { id: 'board' })
  const close = create('button', ['Close'])
  const title = document.querySelector('h1')?.textContent ?? ''
  const heading = create('h2', [name === '' ? `Scores of ${title}` : `${title}: ${name}`])
  heading.id = 'board-title'
  dialog.setAttribute('aria-labelledby', heading.id)
  dialog.append(heading, contentOf(board), create('form', [close], { method: 'dialog' }))
  document.body.append(dialog)
  const closed = new Promise((resolve) => dialog.addEventListener('close', resolve))
  signal.addEventListener('abort', () => dialog.close())
  dialog.showModal()
  await closed
  dialog.remove()
  document.querySelector('iframe')?.focus()
}

function contentOf({ top, mine, count }: Board): HTMLElement {
  if (top.length === 0) return create('p', ['There are no scores yet. Be the first.'])
  const isShown = mine === null || top.some(({ isMe }) => isMe)
  const rows = [...top, ...(isShown ? [] : [mine])].map(rowOf)
  const players = `${count.toLocaleString('en-US')} ${count === 1 ? 'player' : 'players'}`
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
      create('td', [create('bdi', [name]), ...(isMe ? [' (you)'] : [])]),
      create('td', [score.toLocaleString('en-US')]),
    ],
    { className: isMe ? 'own' : '' },
  )
