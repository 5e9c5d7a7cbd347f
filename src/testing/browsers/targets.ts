import type { Page } from 'playwright-core'

/** A phone with a finger. */
export const touchPhone = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
}

/**
 * Finds links and controls lower than 44 pixels. Links in a text, and boxes inside a label that is
 * high enough, are as high as their line (WCAG 2.2, 2.5.8, "Inline" and "Equivalent"). The bar of
 * the page around an app has two such lines.
 */
const smallTargets = `[...document.querySelectorAll('a, button, summary, select, textarea, input:not([type=hidden])')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((one) => !(one.matches('a') && getComputedStyle(one).display === 'inline'))
  .filter((one) => !one.closest('.visually-hidden, .skip, #who'))
  .map((one) => one.matches('[type=checkbox], [type=radio]') ? one.closest('label') ?? one : one)
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height < 43.5)
  .map(([one, { height }]) => Math.round(height) + ' ' + one.outerHTML.slice(0, 90).replace(/\\s+/g, ' '))`

/** Returns what one presses on a page that is lower than 44 pixels, with its height. */
export const findSmallTargets = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(smallTargets)
