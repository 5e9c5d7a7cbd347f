/**
 * Counts scripts of other hosts as loaded, whose interface the page has already. The sandbox does
 * not load them, but pages wait for them.
 */
export function countAsLoaded(pattern: RegExp): void {
  addEventListener(
    'error',
    (event) => {
      const { target } = event
      if (!(target instanceof HTMLScriptElement) || !pattern.test(target.src)) return
      event.stopImmediatePropagation()
      target.dispatchEvent(new Event('load'))
    },
    { capture: true },
  )
}
