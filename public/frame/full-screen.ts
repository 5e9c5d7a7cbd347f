import { t } from '../words.ts'
import type { Shell } from './opened-page.ts'

/** The button of full screen. A browser without it, as on an iPhone, still loses the bar. */
export function fullScreen({ bar, focus, notify, maker }: Shell): void {
  document.getElementById('full')?.addEventListener('click', () => {
    const turned = document.fullscreenElement
      ? document.exitFullscreen()
      : document.querySelector('main')?.requestFullscreen?.()
    if (turned) return void turned.catch(() => undefined).then(focus)
    bar.hide()
    notify({ text: t('Add it to the home screen to play without bars.'), ms: 6_000 })
  })
  document.addEventListener('fullscreenchange', () => {
    if (!document.fullscreenElement) return
    const title = document.querySelector('h1')?.textContent ?? ''
    const text = t('“{title}” by {maker} is full screen. Press Esc to exit.', { title, maker })
    notify({ text, ms: 4_000 })
  })
}
