import { t } from '../../public/words.ts'
const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const root = document.documentElement
const icons: Record<Theme, string> = {
  system: 'M4 5h16v10H4zM9 19h6M12 15v4',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  dark: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
}

/** Returns the saved theme. Without storage, the page follows the system. */
function savedTheme(): Theme {
  try {
    const name = localStorage.getItem('theme')
    return themes.find((theme) => theme === name) ?? 'system'
  } catch {
    return 'system'
  }
}

function applyTheme(theme: Theme): void {
  if (theme === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = theme
}

const names = { system: t('system'), light: t('light'), dark: t('dark') }

/** `<theme-switch>`: a button that cycles through the system theme, light and dark. */
class ThemeSwitch extends HTMLElement {
  connectedCallback(): void {
    const button = document.createElement('button')
    const show = (theme: Theme): void => {
      const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
      drawing.setAttribute('viewBox', '0 0 24 24')
      path.setAttribute('d', icons[theme])
      drawing.append(path)
      button.replaceChildren(drawing)
      button.title = t('Theme: {theme}', { theme: names[theme] })
      button.setAttribute('aria-label', button.title)
    }
    button.type = 'button'
    button.addEventListener('click', () => {
      const next = themes[(themes.indexOf(savedTheme()) + 1) % themes.length] ?? 'system'
      try {
        localStorage.setItem('theme', next)
      } catch {
        // Without storage, the choice lasts until the page closes.
      }
      applyTheme(next)
      show(next)
    })
    show(savedTheme())
    this.append(button)
  }
}

applyTheme(savedTheme())
customElements.define('theme-switch', ThemeSwitch)
